// Causes every event that the monitored site alpha has a metric for, at alpha and at its peer bravo.
import * as fs from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { connect } from 'node:tls'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { send as sendMessage } from '../../../daemon/roles/gateway/chat/send.ts'
import { register as registerService } from '../../../daemon/roles/gateway/registration/register.ts'
import { publish } from '../../../daemon/roles/hub/feed/publish.ts'
import { deliver } from '../../../daemon/roles/hub/message/deliver.ts'
import { register } from '../../../daemon/roles/hub/node/register.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { list as listPipelines } from '../../../daemon/roles/ingest/datapipeline/list.ts'
import { create as createSignal } from '../../../daemon/roles/intelligence/signal/create.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create as createLens } from '../../../daemon/roles/resolution/lens/create.ts'
import { resend } from '../../../daemon/roles/site/message/resend.ts'
import { send } from '../../../daemon/roles/site/message/send.ts'
import type { CheckedClient } from '../http/checked-client.ts'
import { sendHttpRequest } from '../http/send-http-request.ts'
import type { TestSite } from '../site/test-site.ts'
import { waitUntil } from '../site/test-site.ts'
import type { MonitoredSites } from './monitored-sites.ts'
import { readGauge } from './read-gauge.ts'

const label = { level: 'UNCLASSIFIED', releasable_to: ['tenant-a', 'tenant-b'] }
const policy = { m: 2, n: 2, ratify_threshold: 0.8, conflict_threshold: 0.5 }
export const buildSession = (more: object = {}) => ({
  ...{ lens_id: 'people', lens_version: '1', policy, classification: label },
  ...more,
})

export const createOperator = (site: TestSite): Promise<CheckedClient> =>
  site.as({ subject: 'olga', roles: ['operator'], clearance: { level: 'SECRET' } })
const createRole = (site: TestSite, role: string): Promise<CheckedClient> =>
  site.as({ subject: `role:${role}`, roles: ['service'], tenant: '*' })

export function buildOpinion(contributor_id: string, pair_score: number) {
  const opinion = { pair_score, accuracy: 0.9, credibility: 0.9 }
  return { contributor_id, ...opinion, signer_key_id: `${contributor_id}-1`, classification: label }
}

/** The id of a session of alpha on which two contributors disagree. */
export async function openConflict(alpha: TestSite): Promise<string> {
  const olga = await createOperator(alpha)
  const { id } = await olga.ok(create, buildSession())
  await olga.ok(contribute, { id, ...buildOpinion('alice', 1) })
  await olga.ok(contribute, { id, ...buildOpinion('bob', 0) })
  return id
}

export async function causeEvents(sites: MonitoredSites): Promise<void> {
  await causeChannelEvents(sites)
  await causeRoleEvents(sites)
  await causeFrontEvents(sites)
  await requestProxy(sites, '/public-api/report/1', 3)
  await requestProxy(sites, '/public-api/elsewhere', 3)
  await sendNonsense(sites)
  await sendWithoutCertificate(sites)
}

/** Sessions of both sites, an inventory, a contribution, a false result, a repeat, a gap, and what is no message. */
async function causeChannelEvents({ alpha, bravo, carry }: MonitoredSites): Promise<void> {
  const [own, theirs] = [await createOperator(alpha), await createOperator(bravo)]
  const read = (name: string, labels: Readonly<Record<string, string>>) => readGauge(alpha, 'site', name, labels)
  const isReady = async (site: TestSite, peer: string, count: number) =>
    fs.readdirSync(foldersOf(site.folder.filedrop, peer).ready).filter((name) => name.endsWith('.env.json')).length >=
    count
  const hosted = await theirs.ok(create, buildSession({ invite: ['alpha'] }))
  await waitUntil(() => isReady(bravo, 'alpha', 2))
  carry(bravo, alpha)
  await waitUntil(
    async () => (await read('channel_inventory_age_seconds', { peer: 'bravo', direction: 'in' })) !== undefined,
  )

  const { id } = await own.ok(create, buildSession({ policy: { ...policy, m: 3, n: 3 }, invite: ['bravo'] }))
  await waitUntil(() => isReady(alpha, 'bravo', 1))
  const opinion = (session_id: string, pair_score: number) =>
    sendAs(bravo, 'contribution', `${session_id}:${pair_score}`, { ...buildOpinionData(pair_score), session_id })
  await opinion(id, 0.9)
  await sendAs(bravo, 'result', 'false', { session_id: hosted.id, evidence: { v: 2 } })
  await waitUntil(() => isReady(bravo, 'alpha', 2))
  carry(bravo, alpha)
  await waitUntil(() => readGauge(alpha, 'consensus', 'federation_invalid_result_total', { peer: 'bravo' }))
  await waitUntil(() => readGauge(alpha, 'consensus', 'federation_contribution_total', { peer: 'bravo' }))

  await theirs.ok(resend, { peer: 'alpha', first: 1, last: 1 })
  await own.ok(resend, { peer: 'bravo', first: 1, last: 1 })
  await waitUntil(() => isReady(bravo, 'alpha', 1))
  carry(bravo, alpha)
  await waitUntil(() => read('filedrop_duplicates_total', { peer: 'bravo' }))

  await opinion(id, 0.8)
  await waitUntil(() => isReady(bravo, 'alpha', 1))
  carry(bravo, alpha, () => true)
  await opinion(id, 0.7)
  await waitUntil(() => isReady(bravo, 'alpha', 1))
  carry(bravo, alpha)
  await waitUntil(() => read('channel_gaps', { peer: 'bravo', direction: 'in' }))

  dropUnexpected(alpha, 1)
  await waitUntil(() => read('channel_quarantine_items', { peer: 'bravo', direction: 'in' }))
}

const schemaVersion = 1
const carriedLabel = { policy: 'COALITION', categories: [], originator: 'tenant-b', ...label }

function buildOpinionData(pair_score: number) {
  return { pair_score, accuracy: 1, credibility: 1, classification: carriedLabel }
}

/** A message that bravo's role consensus sends to alpha, true or not. */
async function sendAs(bravo: TestSite, kind: 'contribution' | 'result', event_id: string, data: object): Promise<void> {
  const schema = `consensus.${kind}/${schemaVersion}`
  const message = {
    peer: 'alpha',
    event_id,
    kind,
    schema,
    body: { ...data },
    label: carriedLabel,
    parent_block_ids: [],
  }
  await (await createRole(bravo, 'consensus')).ok(send, message)
}

/** Files that no site sent, in bravo's channel. */
export function dropUnexpected(alpha: TestSite, count: number): void {
  const { fresh } = foldersOf(alpha.folder.filedrop, 'bravo')
  for (let at = 0; at < count; at++) fs.writeFileSync(`${fresh}/unexpected-${count}-${at}.txt`, 'x')
}

/** A registration that is refused, and a request through the edge. */
async function causeFrontEvents(sites: MonitoredSites): Promise<void> {
  const { alpha, upstream } = sites
  const service = await alpha.as({ subject: 'svc:weather', roles: ['service'] })
  const url = `http://127.0.0.1:${upstream.port}`
  await service.call(registerService, { name: 'weather', url, ttl_seconds: 300, component_kind: 'library' })
  await requestEdge(sites)
}

export async function requestEdge({ ports }: MonitoredSites): Promise<void> {
  await sendHttpRequest(`http://127.0.0.1:${ports.edge}`, 'GET', '/api/v2/consensus/session')
}

async function causeRoleEvents({ alpha }: MonitoredSites): Promise<void> {
  const olga = await createOperator(alpha)
  await openConflict(alpha)
  const fields = [
    { name: 'given_name', type: 'name' as const },
    { name: 'surname', type: 'name' as const },
  ]
  const body = { lens: 'people', version: '1.0.0', entity_type: 'person', fields }
  await olga.ok(createLens, { body })
  const people = [{ id: '1', given_name: 'Ada', surname: 'Petrov' }]
  await olga.ok(start, { lens_id: 'people', node_data: { east: people, west: people } })
  const tasks = [{ name: 'read', operator: 'ingest_file', params: { file: 'missing.csv' } }]
  const content = JSON.stringify({ format: 1, dag_id: 'people', tasks })
  await olga.ok(deploy, { dag_id: 'people', content, run_on_deploy: true })
  // The clock of the story is put ahead later, beyond the time that a step may take.
  await waitUntil(async () => (await olga.ok(listPipelines, {})).items[0]?.last_run?.state === 'failed')
  await olga.ok(sendMessage, { message: 'hello' })
  const subject = { type: 'asset' as const, id: 'gate', name: 'Gate' }
  await olga.ok(createSignal, {
    signal_type: 'manual',
    severity: 'low',
    title: 'seen',
    subject,
    source: { type: 'manual' },
    detected_at: new Date(alpha.clock.now()).toISOString(),
  })
  for (const name of ['alpha', 'bravo']) {
    const registration = { kind: 'mission_service' as const, site: name, node_tenant_id: `tenant-${name[0]}` }
    const node = await createNode(alpha, name)
    await node.ok(register, { id: name, ...registration, description: '', capabilities: [] })
  }
  const node = await createNode(alpha, 'alpha')
  const base64 = Buffer.from('x').toString('base64')
  await node.ok(deliver, { id: 'bravo', from: 'alpha', epoch: 1, seq: 1, envelope: base64, body: base64 })
  const at = new Date(alpha.clock.now()).toISOString()
  await node.ok(publish, { id: 'alpha', event_id: 'e1', session_id: 'ses_1', lens_id: 'people', state: 'RATIFIED', at })
}

const createNode = (alpha: TestSite, name: string) => alpha.as({ subject: `node:${name}`, roles: ['node'] })

/** Public requests, some at a time; the proxy answers each in its way. */
export function requestProxy({ ports }: MonitoredSites, at: string, count: number): Promise<void> {
  return repeatRequest(`http://127.0.0.1:${ports.proxy}${at}`, count, { headers: { 'x-forwarded-for': '192.0.2.1' } })
}

export async function repeatRequest(url: string, count: number, init: RequestInit = {}): Promise<void> {
  const wave_size = 50
  for (let done = 0; done < count; done += wave_size) {
    const wave = Array.from({ length: Math.min(wave_size, count - done) })
    await Promise.all(wave.map(async () => void (await (await fetch(url, init)).arrayBuffer())))
  }
}

/** A connection that says nothing a server understands. */
async function sendNonsense({ ports }: MonitoredSites): Promise<void> {
  await new Promise<void>((done) => {
    const socket = connectPlain({ port: ports.proxy ?? 0, host: '127.0.0.1' }, () => socket.write('nonsense\r\n\r\n'))
    socket.once('error', () => done())
    socket.once('close', () => done())
    socket.resume()
  })
}

/** A connection to alpha's listener for peers, by a client without a certificate. */
async function sendWithoutCertificate({ alpha, peer_port: port }: MonitoredSites): Promise<void> {
  await new Promise<void>((done) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.once('error', () => done())
    socket.once('close', () => done())
    socket.once('secureConnect', () => socket.write('GET / HTTP/1.1\r\nhost: alpha\r\n\r\n'))
    socket.resume()
  })
  await waitUntil(() => readGauge(alpha, 'site', 'mtls_refused_total', {}))
}
