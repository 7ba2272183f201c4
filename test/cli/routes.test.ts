// The routing table of a site, printed without a daemon.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseYaml } from '../../adapters/host/yaml/yaml-document.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('routes')
const at = { env: { PLATFORM_SITE: path.join(dir, 'alpha'), PLATFORM_ROLES: 'site,consensus,intelligence' } }

beforeAll(async () => {
  await runJsonCommand(['init', '--site', at.env.PLATFORM_SITE, '--tenant', 'acme', '--yes'])
})
afterAll(remove)

test('each rule has the processes of its service, those of the roles of the profile', async () => {
  const { rules } = (await runJsonCommand(['routes'], at)) as { rules: Record<string, unknown>[] }
  const find = (prefix: string) => rules.find((rule) => rule.prefix === prefix)
  expect(find('/api/v2/consensus')).toEqual({
    ...{ ingress: 'consensus-service-rest', host: null, prefix: '/api/v2/consensus', priority: 100 },
    ...{ service: 'consensus-service', is_served: true, backends: ['http://127.0.0.1:8400'] },
  })
  expect(find('/api/v1/lens')).toMatchObject({ service: 'resolution-service', is_served: false, backends: [] })
})

test('services of other machines are where the environment has them', async () => {
  const urls = {
    INTELLIGENCE_URL: 'http://intelligence.example:8002',
    ENTITY_RESOLUTION_URL: 'https://resolution.example:8003',
    DATA_PLATFORM_URL: 'http://data.example:8009',
  }
  const { rules } = await runJsonCommand(['routes'], { env: { ...at.env, ...urls } })
  const backendsOf = (prefix: string) =>
    rules.find((rule: { prefix: string }) => rule.prefix === prefix)?.backends as readonly string[]
  expect(backendsOf('/api/v1/signal')).toEqual([urls.INTELLIGENCE_URL])
  expect(backendsOf('/api/v2/lens')).toEqual([urls.ENTITY_RESOLUTION_URL])
  expect(backendsOf('/dataspace')).toEqual([urls.DATA_PLATFORM_URL])
})

test('the table shows what is not served', async () => {
  const { exit, stdout } = await runCommand(['routes'], at)
  expect(exit).toBe(0)
  const lines = stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
  expect(lines).toContainEqual(['HOST', 'PREFIX', 'PRIORITY', 'SERVICE', 'BACKENDS'])
  expect(lines).toContainEqual(['*', '/api/v1/signal', '100', 'intelligence-service', 'http://127.0.0.1:8002'])
  expect(lines).toContainEqual(['*', '/public-api', '100', 'public-proxy', 'no_backend'])
  expect(lines).toContainEqual(['agentspace.cluster.local', '/', '10', 'intelligence-service', 'http://127.0.0.1:8002'])
})

test('nginx and Caddy get a configuration', async () => {
  const nginx = await runCommand(['routes', '--format', 'nginx', '--listen', '127.0.0.1:80'], at)
  expect(nginx).toMatchObject({ exit: 0, stderr: '' })
  expect(nginx.stdout).toContain('    listen 127.0.0.1:80 default_server;\n')
  expect(nginx.stdout).toContain('    location /api/v1/signal/ { proxy_pass http://platform-intelligence-service; }\n')
  const caddy = await runCommand(['routes', '--format', 'caddy'], at)
  expect(caddy).toMatchObject({ exit: 0, stderr: '' })
  expect(caddy.stdout).toMatch(/^ +reverse_proxy @any_\d+ http:\/\/127\.0\.0\.1:8400 \{$/m)
})

test('processes of one service over http and https have no configuration', async () => {
  const profile = path.join(at.env.PLATFORM_SITE, 'profile.yaml')
  const text = readFileSync(profile, 'utf8')
  writeFileSync(profile, `${text}\ningress: { backends: { gateway: ["http://a:1", "https://b:2"] } }\n`)
  const { exit, stderr } = await runCommand(['routes', '--format', 'nginx'], at)
  writeFileSync(profile, text)
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining('ingress.backends of gateway must all be http, or all https'),
  ])
})

test.each([
  ['--listen', '80; evil'],
  ['--listen', 'host'],
  ['--format', 'apache'],
  ['--namespace', 'Not a name'],
  ['--format', 'caddy', '--json'],
])('%s %s is a fault of usage', async (...words) => {
  expect(await runCommand(['routes', ...words], at)).toMatchObject({ exit: 2, stdout: '' })
})

test('Kubernetes gets a stream of objects, those of the roles of the profile among them', async () => {
  const words = ['routes', '--format', 'kubernetes', '--namespace', 'intel', '--image', 'registry.example/platform:2']
  const { exit, stdout } = await runCommand(words, { env: { ...at.env, CONSENSUS_HOST: '0.0.0.0' } })
  expect(exit).toBe(0)
  const documents = stdout.split('---\n').filter((text) => text !== '')
  const objects = documents.map((text) => parseYaml(text) as { value: Record<string, unknown> })
  const find = (kind: string, name: string) =>
    objects.find(({ value }) => value.kind === kind && (value.metadata as { name: string }).name === name)?.value
  expect(find('Deployment', 'consensus-service')).toMatchObject({
    metadata: { namespace: 'intel' },
    spec: {
      template: { spec: { containers: [{ image: 'registry.example/platform:2', args: ['serve', 'consensus'] }] } },
    },
  })
  // A listener for other machines stays as the profile has it; one for this machine alone would not be reached.
  expect(JSON.stringify(find('Deployment', 'consensus-service'))).not.toContain('CONSENSUS_HOST')
  expect(JSON.stringify(find('Deployment', 'site-service'))).toContain('{"name":"SITE_HOST","value":"0.0.0.0"}')
  expect(find('Ingress', 'consensus-service-rest')).toMatchObject({ metadata: { namespace: 'intel' } })
})

test('roles that admit each other by certificates have a claim each, and know those in the cluster and outside of it', async () => {
  const separate = {
    PLATFORM_ROLE_ACCEPT_CERTIFICATES: 'true',
    PLATFORM_ROLE_URLS: JSON.stringify({ ingest: 'https://b.example:8008' }),
    CONSENSUS_TLS_CERT_FILE: 'own.pem',
    CONSENSUS_TLS_KEY_FILE: 'own.pem',
  }
  const { exit, stdout } = await runCommand(['routes', '--format', 'kubernetes'], { env: { ...at.env, ...separate } })
  expect(exit).toBe(0)
  const documents = stdout.split('---\n').filter((text) => text !== '')
  const objects = documents.map((text) => (parseYaml(text) as { value: Record<string, unknown> }).value)
  const sets = objects.filter(({ kind }) => kind === 'StatefulSet').map((each) => JSON.stringify(each))
  expect(sets).toHaveLength(2)
  for (const set of sets) expect(set).toContain('\\"ingest\\":\\"https://b.example:8008\\"')
  // The certificate of the profile stays that of its listener.
  expect(sets.map((set) => /CONSENSUS_TLS_CERT_FILE|INTELLIGENCE_TLS_CERT_FILE/.exec(set)?.[0]).sort()).toEqual([
    'INTELLIGENCE_TLS_CERT_FILE',
    undefined,
  ])
})
