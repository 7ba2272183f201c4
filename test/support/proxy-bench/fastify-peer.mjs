// A proxy of @fastify/http-proxy with its rate limit in Redis, as their documentation sets it up.
import { createRequire } from 'node:module'
import path from 'node:path'

const { PEER_PACKAGES, PEER_PORT, PEER_UPSTREAM, PEER_REDIS, PEER_LIMIT } = process.env
const require = createRequire(path.join(PEER_PACKAGES ?? '', 'package.json'))
const fastify = require('fastify')({ logger: false })
const Redis = require('ioredis')

await fastify.register(require('@fastify/rate-limit'), {
  max: Number(PEER_LIMIT),
  timeWindow: '1 minute',
  redis: new Redis({ host: '127.0.0.1', port: Number(PEER_REDIS), enableAutoPipelining: true }),
  keyGenerator: (request) => request.headers['x-forwarded-for'] ?? '',
})
await fastify.register(require('@fastify/http-proxy'), {
  upstream: `http://127.0.0.1:${PEER_UPSTREAM}`,
  prefix: '/public-api',
  httpMethods: ['GET'],
  replyOptions: {
    rewriteRequestHeaders: (_request, headers) => ({ ...headers, authorization: 'Bearer bench-token' }),
  },
})
await fastify.listen({ host: '127.0.0.1', port: Number(PEER_PORT) })
