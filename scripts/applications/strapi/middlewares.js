module.exports = ['logger', 'errors', 'security', 'cors', 'poweredBy', 'query', 'body', 'session', 'favicon', 'public'].map(name => 'strapi::' + name)
