// `platform tools` against services at a URL: a list that changes, a certificate of a private authority, forged lines.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { spawnCommand } from '../support/command/run-command-process.ts'
import { issueServerCertificates } from '../support/engines/server-certificates.ts'
import { serveTools } from '../support/mcp/serve-tools.ts'
import { requires } from '../support/runner/requires.ts'
import { startSingleClusterSite } from '../support/site/single-cluster-site.ts'
import { forged, forgedLine, hostileText, misleading } from '../support/text/hostile-text.ts'

const token = ['--token', 'alice.admin']

test('a list is printed again at each change, until an interrupt', async () => {
  const { port, changeTools } = await serveTools()
  const child = spawnCommand(['tools', 'list', '--follow', '--json', '--url', `http://127.0.0.1:${port}`, ...token])
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  child.stdout?.on('data', (part: Buffer) => {
    stdout += part.toString()
  })
  const lists = () =>
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { tools: { name: string }[] }).tools.map(({ name }) => name))
  await expect.poll(lists).toHaveLength(1)
  expect(lists()[0]).toContain('write')
  changeTools((tools) => tools.filter(({ operation }) => operation.tool !== 'write'))
  await expect.poll(lists).toHaveLength(2)
  expect(lists()[1]).toEqual(lists()[0]?.filter((name) => name !== 'write'))
  const closed = once(child, 'close')
  child.kill('SIGINT')
  expect(await closed).toEqual([0, null])
})

requires('openssl')('a service of a private authority is reached with its certificate alone', async () => {
  const certificates = issueServerCertificates('own', 'other')
  const strangers = issueServerCertificates('stranger')
  onTestFinished(() => {
    certificates.dispose()
    strangers.dispose()
  })
  const { ca, cert, key } = certificates.of('own')
  const { port } = await serveTools({}, { tls: { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') } })
  const words = ['tools', 'list', '--url', `https://127.0.0.1:${port}`, ...token]
  const { tools } = await runJsonCommand([...words, '--ca', ca])
  expect(tools.length).toBeGreaterThan(0)
  for (const more of [[], ['--ca', strangers.of('stranger').ca]]) {
    const { exit, stderr } = await runCommand([...words, ...more])
    expect({ exit, stderr }).toMatchObject({ exit: 4, stderr: expect.stringMatching(/certificate/) })
  }
  const keyAlone = await runCommand([...words, '--ca', key])
  expect(keyAlone).toMatchObject({ exit: 2, stderr: expect.stringContaining('holds no certificate in PEM') })
  const plain = await runCommand(['tools', 'list', '--url', 'http://127.0.0.1:1', '--ca', ca])
  expect(plain).toMatchObject({ exit: 2, stderr: expect.stringContaining('--ca needs an https URL') })
})

requires('openssl')('a role that serves TLS is reached with its authority', async () => {
  const certificates = issueServerCertificates('own')
  onTestFinished(() => certificates.dispose())
  const { ca, cert, key } = certificates.of('own')
  const site = await startSingleClusterSite({ consensus: { port: 0, tls_cert_file: cert, tls_key_file: key } })
  onTestFinished(() => site.close())
  const env = { PLATFORM_SITE: path.dirname(site.folder.profile) }
  const words = ['tools', 'list', '--role', 'consensus']
  const { tools } = await runJsonCommand([...words, '--ca', ca], { env })
  expect(tools.length).toBeGreaterThan(0)
  const untrusted = await runCommand(words, { env })
  expect(untrusted).toMatchObject({ exit: 4, stderr: expect.stringMatching(/certificate/) })
})

test('a role is reached at its mcp_url, with a token for the role', async () => {
  const presented: (string | undefined)[] = []
  const mcp_url = await serveText('text', ({ headers, url }) => void presented.push(url, headers.authorization))
  const site = await startSingleClusterSite({ consensus: { port: 0, mcp_url } })
  onTestFinished(() => site.close())
  const env = { PLATFORM_SITE: path.dirname(site.folder.profile) }
  const words = ['tools', 'list', '--role', 'consensus']
  expect(await runCommand(words, { env })).toMatchObject({ exit: 0 })
  expect(new Set(presented)).toEqual(new Set(['/agentspace', expect.stringMatching(/^Bearer ey/)]))
  const plain = await runCommand([...words, '--ca', site.folder.profile], { env })
  expect(plain).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(`--ca needs an https URL, and this is ${mcp_url}`),
  })
})

test('a service at a URL gets no token that was made for this site', async () => {
  const { dir, remove } = createScratchFolder('tools')
  onTestFinished(remove)
  const env = { PLATFORM_SITE: path.join(dir, 'alpha'), PLATFORM_TOKEN: 'admin-of-this-site' }
  await runJsonCommand(['init', '--site', env.PLATFORM_SITE, '--port-base', '0'])
  const presented: (string | undefined)[] = []
  const url = await serveText('text', ({ headers }) => void presented.push(headers.authorization))
  for (const words of [
    ['tools', 'list'],
    ['tools', 'call', 'any'],
    ['tools', 'list', '--site', env.PLATFORM_SITE],
  ])
    expect((await runCommand([...words, '--url', url], { env })).exit).toBe(0)
  expect(presented.length).toBeGreaterThan(3)
  expect(new Set(presented)).toEqual(new Set([undefined]))
  await runCommand(['tools', 'list', '--url', url, '--token-file', '-'], { env, input: 'own-token\n' })
  expect(presented.at(-1)).toBe('Bearer own-token')
})

test('without a role or URL the tools are those of AGENTSPACE_URL, for a token that is meant for it', async () => {
  const { dir, remove } = createScratchFolder('tools')
  onTestFinished(remove)
  const PLATFORM_SITE = path.join(dir, 'alpha')
  await runJsonCommand(['init', '--site', PLATFORM_SITE, '--port-base', '0'])
  const presented: (string | undefined)[] = []
  const AGENTSPACE_URL = await serveText('text', ({ url, headers }) => void presented.push(url, headers.authorization))
  const unauthorized = await runCommand(['tools', 'list'], { env: { AGENTSPACE_URL, PLATFORM_SITE } })
  expect(unauthorized).toMatchObject({ exit: 2, stderr: expect.stringContaining('AGENTSPACE_URL needs a token') })
  expect(presented).toEqual([])
  const env = { AGENTSPACE_URL, PLATFORM_SITE, PLATFORM_TOKEN: 'of-the-platform' }
  for (const words of [
    ['tools', 'list'],
    ['tools', 'call', 'any'],
  ])
    expect((await runCommand(words, { env })).exit).toBe(0)
  expect(new Set(presented)).toEqual(new Set(['/agentspace', 'Bearer of-the-platform']))
  const nothing = await runCommand(['tools', 'list'], { env: { PLATFORM_SITE } })
  expect(nothing).toMatchObject({ exit: 2, stderr: expect.stringContaining('or AGENTSPACE_URL') })
})

test('no line of a result looks like one of the program', async () => {
  const url = await serveText(hostileText.replaceAll('\ud800', ''))
  const { exit, stdout, stderr } = await runCommand(['tools', 'call', 'any', '--url', url])
  expect(exit).toBe(0)
  expect(stdout).toContain(forged)
  expect(`${stdout}${stderr}`).not.toMatch(forgedLine)
  expect(stdout.replaceAll('\n', '')).not.toMatch(misleading)
})

/** A service whose only result is two blocks of this text. */
async function serveText(text: string, onRequest?: (request: http.IncomingMessage) => void): Promise<string> {
  const server = http.createServer(async (request, response) => {
    onRequest?.(request)
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string }
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: text, version: text },
      },
      'tools/list': { tools: [] },
      'tools/call': {
        content: [
          { type: 'text', text },
          { type: 'text', text },
        ],
      },
    }
    const result = results[method ?? '']
    if (!result) return void response.writeHead(method?.startsWith('notifications/') ? 202 : 405).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  onTestFinished(() => void server.closeAllConnections())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
