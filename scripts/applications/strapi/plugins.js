module.exports = { 'users-permissions': { config: { jwtSecret: 'one' } } }
