// Callers without a token, as many as a listener takes at once, each with one byte of a body: callers with one are served.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatRawRequest } from '../../support/http/send-raw-http.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'
import { gatherCrowd } from './crowd.ts'

let site: SingleClusterSite
let honest: string
beforeAll(async () => {
  site = await startSingleClusterSite()
  honest = await site.token({ roles: ['admin'] })
})
afterAll(() => site?.close())

/** More than a listener takes at once. */
const crowd_size = 1_200

const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1000', connection: 'keep-alive' }

test.each([
  ['the token endpoint, which takes bodies of everybody', 'POST /oauth2/token', 'site', '/api/v2/site/key'],
  ['an operation that needs a token', 'POST /api/v2/consensus/session', 'consensus', '/api/v2/consensus/session'],
] as const)('at %s', async (_, line, role, path) => {
  const bytes = () => `${formatRawRequest(line, form)}g`
  const crowd = await gatherCrowd({ port: site.port(role) }, crowd_size, { bytes }, '')
  const { status, text } = await site.request(role, { method: 'GET', path, token: honest })
  expect(status, text).toBe(200)
  crowd.leave()
})
