module.exports = { auth: { secret: 'one' }, apiToken: { salt: 'one' }, transfer: { token: { salt: 'one' } }, secrets: { encryptionKey: 'one' } }
