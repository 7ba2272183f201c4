// A packaged site that shares its counters by a real Redis: they outlive the daemon, and without Redis nobody guesses.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect } from 'vitest'
import { type Redis, redis, redisRequirement } from '../../support/engines/redis.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { createPackagedSite, type PackagedSite } from '../../support/site/packaged-site.ts'

const test = whenPresent(redisRequirement)

let server: Redis | undefined
let site: PackagedSite | undefined
afterAll(async () => {
  await server?.end()
  site?.remove()
})

type TokenResponse = { readonly status: number; readonly retry: string | null; readonly text: string }

async function requestToken(port: number, client_secret: string): Promise<TokenResponse> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'reader', client_secret })
  const answer = await fetch(`http://127.0.0.1:${port}/oauth2/token`, { method: 'POST', body })
  return { status: answer.status, retry: answer.headers.get('retry-after'), text: await answer.text() }
}

async function readHealth(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/health`)
  return ((await answer.json()) as { status: string }).status
}

test('guesses are counted in Redis: over the death of a daemon, and not at all without it', async () => {
  server = await redis()
  await server.start()
  site = createPackagedSite('classified-airgapped')
  const secret = path.join(site.dir, 'reader.secret')
  writeFileSync(secret, 'the right secret of this client\n', { mode: 0o600 })
  const client = `{ client_id: reader, secret_file: ${secret}, roles: [auditor] }`
  site.edit('labels:\n', `identity:\n  clients: [${client}]\nlabels:\n`)
  const password = path.join(site.dir, 'kv.secret')
  writeFileSync(password, server.password, { mode: 0o600 })
  const env = { KV_HOST: '127.0.0.1', KV_PORT: String(server.port), KV_VERIFY: 'false', KV_PASSWORD_FILE: password }

  const first = await site.serve(env)
  for (let n = 0; n < 20; n += 1) expect((await requestToken(first.ports.site ?? 0, 'guessed')).status).toBe(401)
  expect((await requestToken(first.ports.site ?? 0, 'guessed')).status).toBe(429)
  expect(await first.stop()).toBe(0)

  const second = await site.serve(env)
  const port = second.ports.site ?? 0
  await expect.poll(() => readHealth(port)).toBe('ok')
  for (let n = 0; n < 20; n += 1) await requestToken(port, 'guessed')
  expect((await requestToken(port, 'guessed')).status).toBe(429)

  await server.kill()
  const without = await requestToken(port, 'the right secret of this client')
  expect([without.status, without.retry]).toEqual([503, '1'])
  await expect.poll(() => readHealth(port), { timeout: 60_000 }).toBe('degraded')
  await server.start()
  await expect.poll(() => readHealth(port), { timeout: 60_000 }).toBe('ok')
  expect(await second.stop()).toBe(0)
  expect(second.log()).not.toContain(server.password)
})

test('without TLS it is reached on loopback alone', () => {
  site ??= createPackagedSite('classified-airgapped')
  const { exit, stderr } = site.run(['serve'], { KV_HOST: 'kv.example', KV_VERIFY: 'false' })
  expect(exit).not.toBe(0)
  expect(stderr).toContain('kv.verify')
})
