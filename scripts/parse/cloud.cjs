// Cloud functions of the shop.
/* global Parse */

// refund sets the status of an order to refunded, once, with the permissions of the caller.
Parse.Cloud.define('refund', async request => {
  const options = request.master ? { useMasterKey: true } : { sessionToken: request.user && request.user.getSessionToken() }
  const order = await new Parse.Query('Order').get(request.params.order, options)
  if (order.get('status') === 'refunded') throw new Parse.Error(Parse.Error.SCRIPT_FAILED, 'the order was refunded already')
  await order.save({ status: 'refunded' }, options)
  return { order: order.id, status: 'refunded', amount: order.get('total') }
})

// greet writes nothing.
Parse.Cloud.define('greet', request => `Hello ${request.params.name}`)
