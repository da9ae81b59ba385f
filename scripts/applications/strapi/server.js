module.exports = { host: '127.0.0.1', port: 1, app: { keys: ['one', 'two'] } }
