// The shop: classes with permissions, users in roles, and records with access lists, all made over REST.

const pointer = (className, objectId) => ({ __type: 'Pointer', className, objectId })
const date = iso => ({ __type: 'Date', iso })
const everybody = { '*': true }
const nobody = {}

export async function seed(url, s) {
  async function call(method, path, body, headers = { 'X-Parse-Master-Key': s.master_key }) {
    const r = await fetch(url + path, {
      method, body: body && JSON.stringify(body),
      headers: { 'X-Parse-Application-Id': s.app_id, 'X-Parse-REST-API-Key': s.rest_key, 'Content-Type': 'application/json', ...headers },
    })
    const answer = await r.json()
    if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${JSON.stringify(answer)}`)
    return answer
  }
  const schemas = (await call('GET', '/schemas')).results
  if (schemas.some(c => c.className === 'Product')) return

  const user = {}
  for (const [username, password] of Object.entries(s.users)) {
    user[username] = (await call('POST', '/users', { username, password, email: `${username}@shop.example` })).objectId
  }
  const role = async (name, users, roles) => (await call('POST', '/roles', {
    name, ACL: { '*': { read: true } },
    users: { __op: 'AddRelation', objects: users.map(u => pointer('_User', user[u])) },
    ...roles.length && { roles: { __op: 'AddRelation', objects: roles.map(r => pointer('_Role', r)) } }, // an empty list is an error 500
  })).objectId
  const admin = await role('admin', ['ada'], [])
  await role('support', ['sam'], [admin]) // who is an admin is support, too

  const make = (name, fields, classLevelPermissions) => call('POST', `/schemas/${name}`, { className: name, fields, classLevelPermissions })
  const clp = (more = {}) => ({ find: everybody, get: everybody, count: everybody, create: nobody, update: nobody, delete: nobody, addField: nobody, ...more })
  await make('Category', { name: { type: 'String' } }, clp())
  await make('Product', {
    name: { type: 'String', required: true }, price: { type: 'Number' }, cost: { type: 'Number' }, stock: { type: 'Number', defaultValue: 0 },
    category: { type: 'Pointer', targetClass: 'Category' }, tags: { type: 'Array' }, details: { type: 'Object' }, launched: { type: 'Date' },
    place: { type: 'GeoPoint' }, active: { type: 'Boolean' }, related: { type: 'Relation', targetClass: 'Product' },
  }, clp({ update: { 'role:support': true }, create: { 'role:admin': true }, delete: { 'role:admin': true }, protectedFields: { '*': ['cost'], 'role:admin': [] } }))
  await make('Order', {
    customer: { type: 'Pointer', targetClass: '_User' }, product: { type: 'Pointer', targetClass: 'Product' }, quantity: { type: 'Number' },
    total: { type: 'Number' }, status: { type: 'String' }, placed: { type: 'Date' }, margin: { type: 'Number' },
  }, clp({ find: { requiresAuthentication: true }, get: { requiresAuthentication: true }, count: { requiresAuthentication: true }, update: { requiresAuthentication: true },
    create: { requiresAuthentication: true }, protectedFields: { '*': ['margin'], 'role:support': [] } }))
  await make('Note', { about: { type: 'Pointer', targetClass: 'Order' }, author: { type: 'Pointer', targetClass: '_User' }, text: { type: 'String' } },
    clp({ find: { 'role:support': true }, get: { 'role:support': true }, count: { 'role:support': true }, create: { 'role:support': true }, update: { 'role:support': true } }))
  await make('Message', { to: { type: 'Pointer', targetClass: '_User' }, text: { type: 'String' } },
    clp({ find: nobody, get: nobody, count: nobody, readUserFields: ['to'] }))

  const category = {}
  for (const name of ['Tools', 'Garden', 'Kitchen']) category[name] = (await call('POST', '/classes/Category', { name })).objectId
  const product = []
  const names = ['Hammer', 'Saw', 'Drill', 'Spade', 'Rake', 'Hose', 'Knife', 'Pan', 'Pot', 'Whisk', 'Vise', 'Secateurs']
  for (const [i, name] of names.entries()) {
    const kind = ['Tools', 'Tools', 'Tools', 'Garden', 'Garden', 'Garden', 'Kitchen', 'Kitchen', 'Kitchen', 'Kitchen', 'Tools', 'Garden'][i]
    product.push((await call('POST', '/classes/Product', {
      name, price: 5 + 2.5 * i, cost: 2 + i, stock: (i * 7) % 20, category: pointer('Category', category[kind]), active: i !== 10,
      tags: i % 3 ? ['sale', 'new'].slice(0, i % 3) : [], details: { weight: i * 100, colours: ['red', 'blue'].slice(i % 2) },
      launched: date(`2026-0${1 + (i % 9)}-15T08:00:00.000Z`), place: { __type: 'GeoPoint', latitude: 48 + i / 10, longitude: 16.3 },
    })).objectId)
  }
  await call('PUT', `/classes/Product/${product[0]}`, { related: { __op: 'AddRelation', objects: [pointer('Product', product[1]), pointer('Product', product[2])] } })
  const order = []
  for (let i = 0; i < 40; i++) {
    const customer = ['alice', 'bob', 'carol'][i % 3]
    order.push((await call('POST', '/classes/Order', {
      customer: pointer('_User', user[customer]), product: pointer('Product', product[i % product.length]), quantity: 1 + (i % 4), total: (1 + (i % 4)) * (5 + 2.5 * (i % 12)),
      status: ['open', 'paid', 'shipped', 'returned'][i % 4], placed: date(new Date(Date.UTC(2026, i % 12, 1 + i % 28)).toISOString()), margin: i,
      ACL: { [user[customer]]: { read: true, write: true }, 'role:support': { read: true, write: true } },
    })).objectId)
  }
  for (let i = 0; i < 5; i++) {
    await call('POST', '/classes/Note', { about: pointer('Order', order[i]), author: pointer('_User', user.sam), text: `called about order ${i}`, ACL: { 'role:support': { read: true, write: true } } })
  }
  for (const name of ['alice', 'bob', 'alice']) await call('POST', '/classes/Message', { to: pointer('_User', user[name]), text: `Dear ${name}` })
}
