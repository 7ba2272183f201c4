// A real site in a folder of its own, served in this process over real HTTP: worlds for tests in one line.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { offlineIssuer } from '../../../adapters/identity/offline/issuer.ts'
import { fileRevocations } from '../../../adapters/identity/offline/revocations.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { issueToken, type TokenPayload } from '../../../adapters/keys/jose/tokens.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { type RunningSite, serve } from '../../../daemon/boot/serve.ts'
import { roleSocketFile, type SiteFolder, siteFolder } from '../../../daemon/boot/storage/site-folder.ts'
import { everyOperation } from '../../../daemon/every-role.ts'
import type { DelegatingCredential, Delegation } from '../../../daemon/kernel/identity/delegation.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { AnyOperation, HttpMethod } from '../../../daemon/kernel/operation/operation.ts'
import type { PartKey } from '../../../daemon/kernel/role/part.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { enrolChannels } from '../../../daemon/offline/filedrop/filedrop-files.ts'
import { makeSite } from '../../../daemon/offline/site/make-site.ts'
import { type SimulatedClock, simulatedClock } from '../clock/simulated-clock.ts'
import { type CheckedClient, createCheckedClient } from '../http/checked-client.ts'
import { type HttpCallResponse, isRoleToken, sendHttpRequest } from '../http/send-http-request.ts'
import { sampleTrace } from '../trace/sample-trace.ts'
import { usualRoles } from './single-cluster-site.ts'

export type ProfileSections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export type TestSiteOptions = {
  readonly name?: string
  readonly tenant?: string
  /** A shipped profile. */
  readonly template?: string
  /** Laid over the shipped profile, field by field. */
  readonly profile?: ProfileSections
  readonly peers?: readonly Peer[]
  readonly env?: Readonly<Record<string, string>>
  readonly clock?: SimulatedClock
  /** Receives every event of the log, as the roles write it. */
  readonly onEvent?: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

export type TokenHolder = {
  readonly subject?: string
  readonly roles?: readonly string[]
  readonly tenant?: string
  readonly clearance?: { level: string; categories?: string[]; nationality?: string }
  /** Of the token; a day by default. */
  readonly lifetime_s?: number
}

export type TestSite = {
  readonly name: string
  readonly tenant: string
  readonly folder: SiteFolder
  readonly clock: SimulatedClock
  /** Events that were logged as errors since the beginning: a sound world has none. */
  readonly loggedErrors: readonly string[]
  /** A token by the site's own key; by default an analyst of the site's tenant with the highest clearance. */
  token(who?: TokenHolder): Promise<string>
  call(
    role: string,
    method: HttpMethod,
    at: string,
    body?: unknown,
    sent?: { token?: string; headers?: Readonly<Record<string, string>> },
  ): Promise<HttpCallResponse>
  /** Someone with a token who calls operations by their declarations. */
  as(who?: TokenHolder): Promise<CheckedClient>
  /** The first URL over TCP that the role answers at; it changes with a restart. */
  url(role: string): string
  wakeWorker(role: string, worker: string): void
  /** The store of the role, for documents that no operation writes. */
  store(role: string): Store
  /** A part of the role, for what no operation shows. */
  part<P>(role: string, key: PartKey<P>): P
  /** What the role does in the name of a principal, as its operations and workers do. */
  delegation(role: string, credential: DelegatingCredential): Delegation
  start(): Promise<void>
  stop(): Promise<void>
  restart(): Promise<void>
  /** Stops and removes everything. */
  end(): Promise<void>
}

/** Makes and starts a site. Throws what `serve` throws; nothing is left behind then. */
export async function startTestSite(options: TestSiteOptions = {}): Promise<TestSite> {
  const world = await createTestSite(options)
  try {
    await world.start()
  } catch (error) {
    await world.end()
    throw error
  }
  return world
}

/** A site that has not been started yet. */
export async function createTestSite(options: TestSiteOptions = {}): Promise<TestSite> {
  const { name = 'alpha', tenant = 'tenant-a', env = {}, clock = simulatedClock(), onEvent } = options
  const dir = fs.mkdtempSync(path.join(tmpdir(), 'site-'))
  const folder = siteFolder(path.join(dir, name))
  await writeSiteFolder(folder, { ...options, name, tenant, clock })
  const faults: string[] = []
  let running: RunningSite | undefined
  const up = () => running ?? throwError(`the site ${name} does not run`)
  const findService = (role: string) =>
    up().services.find((service) => service.role.name === role) ?? throwError(`${role} does not run`)
  const world: TestSite = {
    name,
    tenant,
    folder,
    clock,
    loggedErrors: faults,
    token: (who = {}) => mintToken(folder, name, { tenant, ...who }, clock.now()),
    url: (role) => up().urls[role]?.find((url) => url.startsWith('http')) ?? throwError(`${role} has no URL`),
    call(role, method, at, body, sent) {
      const url = isRoleToken(sent?.token) ? `unix:${roleSocketFile(folder, role)}` : world.url(role)
      return sendHttpRequest(url, method, at, body, sent)
    },
    async as(who) {
      return createCheckedClient(world, await world.token(who), findOperationRole)
    },
    wakeWorker: (role, worker) => findService(role).wake(worker),
    store: (role) => findService(role).context.store,
    part: (role, key) => findService(role).context.environment.part(key),
    delegation: (role, credential) => findService(role).context.delegation(sampleTrace, credential),
    async start() {
      running = await serve({ folder, env, clock, log: createFaultLog(faults, onEvent) })
    },
    async stop() {
      const stopping = running
      running = undefined
      await stopping?.stop()
    },
    async restart() {
      await world.stop()
      await world.start()
    },
    async end() {
      await world.stop()
      fs.rmSync(dir, { recursive: true, force: true })
    },
  }
  return world
}

async function writeSiteFolder(
  folder: SiteFolder,
  options: TestSiteOptions & Required<Pick<TestSiteOptions, 'name' | 'clock'>>,
) {
  const { name, tenant = 'tenant-a', template = 'single-cluster', profile = {}, peers = [], clock } = options
  const created = { template, name, tenant_id: tenant, roles: usualRoles, port_base: 0, algorithm: undefined }
  await makeSite(folder, { ...created, now: clock.now() })
  const sections = parse(fs.readFileSync(folder.profile, 'utf8')) as Record<string, Record<string, unknown>>
  for (const [section, fields] of Object.entries(profile)) sections[section] = { ...sections[section], ...fields }
  fs.writeFileSync(folder.profile, stringify(sections, { aliasDuplicateObjects: false }))
  for (const peer of peers) {
    await enrolChannels(folder, {}, peer)
    await peerFiles(folder.peers).add(peer)
  }
}

/** Minted beside the running site with its own key, as the command line does. */
async function mintToken(
  folder: SiteFolder,
  siteName: string,
  who: TokenHolder & { readonly tenant: string },
  now: number,
) {
  const { subject = 'ann', roles = ['analyst'], tenant, clearance = { level: 'TOP_SECRET' }, lifetime_s = 86_400 } = who
  const keys = readKeyFiles(folder.keys)
  const key = keys.find(({ public_key }) => public_key.use === 'token') ?? throwError('the site has no token key')
  const issuer = offlineIssuer({
    siteName,
    sign: (payload) => issueToken(key, payload as TokenPayload),
    verify: async () => ({ refused: 'not_requested' }),
    revocations: fileRevocations(path.join(folder.identity, 'revoked.jsonl')),
    now: () => now,
    random: (bytes) => randomBytes(bytes).toString('hex'),
  })
  return (await issuer.mint({ sub: subject, tenant_id: tenant, roles: [...roles], clearance }, lifetime_s)).token
}

function createFaultLog(faults: string[], onEvent: TestSiteOptions['onEvent']): Log {
  const show: Log['info'] = (event, fields) => onEvent?.(event, fields ?? {})
  const error: Log['error'] = (event, fields) => {
    faults.push(`${event} ${JSON.stringify(fields ?? {})}`)
    show(event, fields)
  }
  return { debug: show, info: show, warn: show, error }
}

const rolesOfOperations = new Map<AnyOperation, string>(everyOperation.map(({ operation, role }) => [operation, role]))

function findOperationRole(operation: AnyOperation): string {
  return rolesOfOperations.get(operation) ?? throwError(`no role declares ${operation.path}`)
}

function throwError(why: string): never {
  throw new Error(why)
}

/** Waits until `look` gives something, and gives that; throws when it never does. Looks seldom once it waits long: each look costs a daemon time. */
export async function waitUntil<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  patience_ms = 60_000,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    const elapsed_ms = performance.now() - began
    if (elapsed_ms > patience_ms) throw new Error(`it never came true: ${look}`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(50, Math.max(5, elapsed_ms / 20))))
  }
}
