// Decisions of the public proxy on the command line: each step, a whole log, a list to page through; and a running proxy.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('proxy')
const at = (name: string) => path.join(dir, name)
const site = ['--site', at('door')]
const env = { ALLOWLIST: 'GET /api/v1/report/{id} limit=5\nPOST /api/v1/feedback', TRUSTED_PROXY_DEPTH: '2' }

beforeAll(async () => {
  await runJsonCommand(['init', ...site, '--profile', 'public-proxy', '--port-base', '0'])
})
afterAll(() => remove())

test('check tells each step in order, and exits with 5 for what would not go through', async () => {
  const good = await runCommand(['proxy', 'check', 'GET', '/public-api/api/v1//report/7?a=b', ...site], { env })
  expect(good, good.stderr).toMatchObject({ exit: 0, stderr: '' })
  expect(good.stdout).toContain('allowed by "GET /api/v1/report/{id}"')
  expect(good.stdout).toContain('entry 2 from the end')
  expect(good.stdout).toMatch(/rate .*60 in 60 s[\s\S]*rate .*5 in 60 s[\s\S]*token[\s\S]*forward/)
  const bad = await runCommand(['proxy', 'check', 'GET', '/public-api/api/v1/%2e%2e%2fadmin', ...site, '--json'], {
    env,
  })
  expect(bad.exit).toBe(5)
  const reload = JSON.parse(bad.stdout) as { steps: { step: string; outcome: string }[] }
  expect(reload).toMatchObject({ goes_on: false, status: 404, reason: 'encoded_slash' })
  expect(reload.steps.at(-1)).toMatchObject({ step: 'path', outcome: 'stops' })
  expect((await runCommand(['proxy', 'check', 'OPTIONS', '/public-api/api/v1/feedback', ...site], { env })).exit).toBe(
    0,
  )
})

test('shows control characters of a terminal as text', async () => {
  const { stdout } = await runCommand(['proxy', 'check', 'GET', '/public-api/\u001b[2J', ...site], { env })
  expect(stdout).not.toContain('\u001b')
})

test('simulate counts what a log would have met', async () => {
  const line = (request: string, status = 200) =>
    `192.0.2.7 - - [10/Oct/2026:13:55:36 +0000] "${request} HTTP/1.1" ${status} 9 "-" "-"`
  const lines = [
    ...Array.from({ length: 7 }, () => line('GET /public-api/api/v1/report/7')),
    line('GET /public-api/admin', 404),
    line('GET /public-api/other'),
    'nonsense',
  ]
  writeFileSync(at('access.log'), `${lines.join('\n')}\n`)
  const found = await runJsonCommand(['proxy', 'simulate', at('access.log'), ...site], { env })
  expect(found).toMatchObject({ requests: 9, unread: 1, forwarded: 5, would_break: 3 })
  expect(found.denied).toEqual(
    expect.arrayContaining([
      { reason: 'rule_rate_limited', count: 2 },
      { reason: 'no_rule', count: 2 },
    ]),
  )
  const missing = await runCommand(['proxy', 'simulate', at('no.log'), ...site], { env })
  expect(missing).toMatchObject({ exit: 1, stdout: '' })
  expect(missing.stderr).toContain('cannot be read')
})

test('an allowlist is proposed from a document, and is one that a profile takes', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'a', version: '1' },
    paths: { '/api/v1/report/{id}': { get: { summary: 'One report' }, delete: {} }, '/api/v1/feedback': { post: {} } },
  }
  writeFileSync(at('openapi.json'), JSON.stringify(document))
  const words = ['proxy', 'allowlist', '--from', at('openapi.json')]
  expect(await runJsonCommand([...words, '--out', at('list.txt')])).toMatchObject({ rules: 2 })
  const list = readFileSync(at('list.txt'), 'utf8')
  expect(list).toContain('# One report')
  expect(list).toContain('DELETE /api/v1/report/{id}')
  const taken = await runCommand(['proxy', 'check', 'POST', '/public-api/api/v1/feedback', ...site], {
    env: { ALLOWLIST: list },
  })
  expect(taken.exit, taken.stderr).toBe(0)
  expect((await runCommand([...words, '--out', at('list.txt')])).exit).not.toBe(0)
  writeFileSync(at('none.json'), '{"swagger":"2.0"}')
  expect(await runCommand(['proxy', 'allowlist', '--from', at('none.json')])).toMatchObject({ exit: 5, stdout: '' })
})

test('a proxy that runs from sources reports its denials, its records and its reload', async () => {
  const running = await serveSite(at('door'), { env: { ...env, PROXY_WORKERS: '1' } })
  try {
    expect((await runCommand(['proxy', 'denials', ...site], { env })).stdout).toContain('no denied requests')
    expect((await runCommand(['proxy', 'records', ...site], { env })).stdout).toContain('no records match')
    const reloaded = await runCommand(['proxy', 'reload', ...site], { env })
    expect(reloaded.stdout).toMatch(/rules +2\napplied +nothing has changed/)
  } finally {
    await running.stop()
  }
})
