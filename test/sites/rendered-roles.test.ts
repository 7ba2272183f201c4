// Roles in pods that share no folder, as `platform routes --format kubernetes` renders them: each started here by its variables and files.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { get, type RequestOptions } from 'node:https'
import path from 'node:path'
import { json as readJson } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { findExecutable } from '../support/command/run-executable.ts'
import { findFreePortPairs } from '../support/monitoring/free-port-pairs.ts'
import { type RunningDaemon, startDaemon } from '../support/site/daemon-process.ts'
import { createPackagedSite, type PackagedSite } from '../support/site/packaged-site.ts'
import { waitUntil } from '../support/site/test-site.ts'

const roles = ['site', 'intelligence', 'ingest'] as const
type PodContainer = {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
}
type RenderedWorkload = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly replicas: number
    readonly template: {
      readonly spec: {
        readonly containers: readonly [PodContainer]
        readonly initContainers?: readonly [{ readonly command: readonly string[] }]
        readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[]
      }
    }
  }
}

let site: PackagedSite
let workloads: RenderedWorkload[]
const daemons = new Map<string, RunningDaemon>()
const ports = new Map<string, number>()

beforeAll(async () => {
  site = createPackagedSite('demo')
  const text = fs.readFileSync(site.profile, 'utf8')
  fs.writeFileSync(site.profile, `${text}\nrole_calls: { accept_certificates: true }\n`)
  site.edit(/^ +roles: .*$/m.exec(text)?.[0] ?? '', `  roles: [${roles.join(', ')}]`)
  const run = (words: string) => expect(site.run(words.split(' ')), words).toMatchObject({ exit: 0 })
  run('keys ca init')
  for (const role of roles) run(`keys cert issue --role ${role} --hosts 127.0.0.1`)
  const { stdout } = site.run(['routes', '--format', 'kubernetes'])
  const objects = parseAllDocuments(stdout).map((each) => each.toJS() as RenderedWorkload)
  workloads = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
  const found = await findFreePortPairs(roles.length)
  for (const [index, { metadata }] of workloads.entries()) ports.set(metadata.name, found[index] ?? 0)
  // The role site first: the others fetch the lists from it at their start, and again after 10 seconds.
  for (const workload of workloads.toSorted(({ kind }, other) => kind.localeCompare(other.kind)))
    await startPod(workload)
})
afterAll(async () => {
  for (const daemon of daemons.values()) await daemon.stop()
  site?.remove()
})

const podFolder = (role: string) =>
  role === 'site' ? site.dir : path.join(path.dirname(site.dir), `pod-${role}`, 'alpha')

/** The claim, filled by the init container from the Secret; then the container, with the profile of the ConfigMap. */
async function startPod({ metadata, spec }: RenderedWorkload): Promise<void> {
  const { containers, initContainers, volumes } = spec.template.spec
  const [, role = ''] = containers[0].args
  const folder = podFolder(role)
  const place = (text: string) => text.replaceAll('/var/lib/platform', folder)
  if (initContainers) {
    const secret = volumes.find(({ name }) => name === 'identity')?.secret?.secretName ?? ''
    const secretFolder = makeSecret(role, secret)
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    const [program = '', ...words] = initContainers[0].command
    execFileSync(
      program,
      words.map((word) => place(word).replaceAll('/etc/platform-role', secretFolder)),
    )
    fs.copyFileSync(site.profile, path.join(folder, 'profile.yaml'))
  }
  const env = Object.fromEntries(containers[0].env.map(({ name, value }) => [name, placeAddress(place(value))]))
  const prefix = /^(.*)_HOST$/m.exec(Object.keys(env).join('\n'))?.[1]
  const address = { [`${prefix}_PORT`]: String(ports.get(metadata.name)), [`${prefix}_METRICS_LISTEN`]: 'none' }
  const { daemon } = await startDaemon(
    {
      program: findExecutable(),
      words: [...containers[0].args, '--site', folder],
      log: path.join(path.dirname(site.dir), `${role}.log`),
      env: { ...env, ...address },
    },
    new Set(),
  )
  daemons.set(role, daemon)
}

/** By the command of docs/remote-roles.md; returns the folder as which it is mounted. */
function makeSecret(role: string, name: string): string {
  const folder = path.join(path.dirname(site.dir), name)
  fs.mkdirSync(folder)
  const lists = ['token-keys.json', 'revoked.jsonl', 'role-authorities.pem'].map((file) => `identity/${file}`)
  execFileSync('tar', ['-C', site.dir, '-cf', path.join(folder, 'identity.tar'), ...lists, `identity/roles/${role}`])
  return folder
}

/** A Service of the cluster is a port of this machine. */
const placeAddress = (value: string) =>
  value
    .replace(/^0\.0\.0\.0$/, '127.0.0.1')
    .replace(/https:\/\/([a-z-]+):\d+/g, (_, service: string) => `https://127.0.0.1:${ports.get(service)}`)

async function request(service: string, at: string, headers: RequestOptions['headers'] = {}) {
  const ca = fs.readFileSync(path.join(site.dir, 'identity/role-authorities.pem'))
  const sent = get({ host: '127.0.0.1', port: ports.get(service), path: at, ca, headers, agent: false })
  const [answer] = await once(sent, 'response')
  return { status: answer.statusCode as number, json: await readJson(answer) }
}

test('one pod of each role, of which the site role alone has the folder of the site', () => {
  const described = workloads.map(({ kind, metadata, spec }) => [metadata.name, kind, spec.replicas])
  expect(described.sort()).toEqual([
    ['intelligence-service', 'StatefulSet', 1],
    ['pipeline-service', 'StatefulSet', 1],
    ['site-service', 'Deployment', 1],
  ])
})

test('no key and no token is a variable, and files of a role are for its user alone', () => {
  const env = JSON.stringify(workloads.map(({ spec }) => spec.template.spec.containers[0].env))
  expect(env).not.toMatch(/PRIVATE|SECRET|TOKEN|PASS/)
  const folder = podFolder('ingest')
  const listed = fs.readdirSync(path.join(folder, 'identity'), { recursive: true, encoding: 'utf8' })
  const files = listed.map((file) => path.join(folder, 'identity', file))
  const isPrivate = (file: string) => (fs.statSync(file).mode & 0o077) === 0
  expect(files.filter((file) => /roles\//.test(file) && !isPrivate(file))).toEqual([])
  expect(fs.existsSync(path.join(folder, 'keys'))).toBe(false)
})

test('each answers the probe of its pod, and finds the role site by its certificate', async () => {
  const minted = site.run(['token', 'mint', '--subject', 'ada', '--roles', 'admin', '--json'])
  expect(minted, minted.stderr).toMatchObject({ exit: 0 })
  const authorization = `Bearer ${(JSON.parse(minted.stdout) as { token: string }).token}`
  for (const service of ports.keys()) expect((await request(service, '/health')).status).toBe(200)
  for (const service of ['intelligence-service', 'pipeline-service']) {
    // No token is accepted before the lists of the role site are fetched from it.
    const answer = await waitUntil(async () => {
      const found = await request(service, '/health', { authorization })
      return JSON.stringify(found.json).includes('"site"') && found
    })
    expect(answer.json).toMatchObject({
      dependencies: expect.arrayContaining([
        expect.objectContaining({ name: 'site', detail: 'ready on another machine' }),
      ]),
    })
  }
  const list = await request('intelligence-service', '/api/v1/signal?limit=1', { authorization })
  expect(list).toMatchObject({ status: 200, json: { items: [] } })
})
