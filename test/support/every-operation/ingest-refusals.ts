// Scenarios for declared refusals of the ingest role that the walk does not cover.
import type { ExactResponse } from '../http/send-exact-request.ts'
import { callTool } from '../mcp/mcp-client.ts'
import {
  beginUnpinnedRun,
  buildConnection,
  buildPeerPart,
  createConnection,
  deployPipeline,
  ingestContent,
} from './ingest-samples.ts'
import { type OperationFixture, secretClassification, secretLabel } from './operation-fixture.ts'
import type { RefusalScenario } from './session-requests.ts'

type PipelineChange = { readonly method: 'POST' | 'PATCH' | 'DELETE'; readonly rest?: string; readonly body?: unknown }

async function changePipeline(
  { site, admin: token }: OperationFixture,
  uid: string,
  { method, rest = '', body }: PipelineChange,
): Promise<ExactResponse> {
  return await site.request('ingest', { method, path: `/userspace/datapipeline/${uid}${rest}`, token, body })
}

const deploy = ({ site, admin }: OperationFixture, body: unknown, token = admin) =>
  site.request('ingest', { method: 'POST', path: '/userspace/datapipeline', token, body })

const deliverPart = ({ site, carrier: token }: OperationFixture, body: unknown) =>
  site.request('ingest', { method: 'POST', path: '/api/v2/federation/dataset', token, body })

/** A pipeline of which no content was ever accepted. */
const deployRejected = async (stage: OperationFixture) =>
  (await deployPipeline(stage, { content: ingestContent('another_dag') })).uid

/** A paused pipeline with a run that waits. */
async function deployWaiting(stage: OperationFixture): Promise<string> {
  const { uid } = await deployPipeline(stage)
  await changePipeline(stage, uid, { method: 'PATCH', body: { action: 'pause' } })
  await changePipeline(stage, uid, { method: 'POST', rest: '/run', body: {} })
  return uid
}

/** The refusal of a tool in the form that a request by path has. */
export async function refuseTool(
  stage: OperationFixture,
  name: string,
  uid: string,
  token?: string,
): Promise<ExactResponse> {
  return refuseToolInput(stage, name, { uid }, token)
}

export async function refuseToolInput(
  { site, admin }: OperationFixture,
  name: string,
  input: Readonly<Record<string, unknown>>,
  token = admin,
): Promise<ExactResponse> {
  const { content } = await callTool(site.port('ingest'), name, input, { token })
  const text = content[0]?.text ?? ''
  const json = JSON.parse(text) as { status: number }
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' }
  return { status: json.status, text, json, headers }
}

async function refuseOtherTenant(stage: OperationFixture, name: string): Promise<ExactResponse> {
  return refuseToolOfTenant(stage, name, (await deployPipeline(stage)).uid)
}

export async function refuseToolOfTenant(stage: OperationFixture, name: string, uid: string): Promise<ExactResponse> {
  return refuseTool(stage, name, uid, await stage.site.token({ tenant_id: 'bravo', roles: ['admin'] }))
}

const connect = ({ site, admin }: OperationFixture, body: unknown, token = admin) =>
  site.request('ingest', { method: 'POST', path: '/userspace/connection', token, body })

function databaseContent(dag_id: string, params: object): string {
  return JSON.stringify({ format: 1, dag_id, tasks: [{ name: 'read', operator: 'ingest_database', params }] })
}

let connected = 0

/** A connection by which a pipeline reads. */
async function connectPipeline(stage: OperationFixture) {
  const uid = await createConnection(stage)
  const params = { connection_id: uid, table: 't' }
  const dag_id = `connected_${++connected}`
  await deployPipeline(stage, { dag_id, content: databaseContent(dag_id, params) })
  return { uid, params }
}

const unreadable = { conn_type: 'snowflake', config: { account: 'ORG-X', username: 'x', database: 'x' } }
const unclearedToken = ({ site }: OperationFixture) => site.token({ roles: ['admin'] })

const unknownPipeline = 'pl_00000000000000000000000000000000'

export const ingestRefusals: Readonly<Record<string, RefusalScenario>> = {
  'ingest.connection.create label_denied': async (stage) =>
    connect(stage, buildConnection(), await unclearedToken(stage)),
  'ingest.connection.create needs_airflow': (stage) => connect(stage, buildConnection(unreadable)),
  'ingest.connection.register label_denied': async (stage) =>
    refuseToolInput(stage, 'connection_create', buildConnection(), await unclearedToken(stage)),
  'ingest.connection.register needs_airflow': (stage) =>
    refuseToolInput(stage, 'connection_create', buildConnection(unreadable)),
  async 'ingest.connection.remove wrong_state'(stage) {
    const { uid } = await connectPipeline(stage)
    const { site, admin: token } = stage
    return site.request('ingest', { method: 'DELETE', path: `/userspace/connection/${uid}`, token })
  },
  async 'ingest.datapipeline.deploy wrong_state'(stage) {
    const { params } = await connectPipeline(stage)
    const classification = secretClassification
    return deploy(stage, { dag_id: 'taken', content: databaseContent('taken', params), classification })
  },
  'ingest.connection.revise not_found': (stage) => refuseTool(stage, 'connection_update', 'conn_unknown'),
  'ingest.connection.revise not_your_tenant': async (stage) =>
    refuseTool(
      stage,
      'connection_update',
      await createConnection(stage),
      await stage.site.token({ tenant_id: 'bravo', roles: ['admin'] }),
    ),
  async 'ingest.datapipeline.deploy already_exists'(stage) {
    const { dag_id } = await deployPipeline(stage)
    return deploy(stage, { dag_id, content: ingestContent(dag_id) })
  },
  'ingest.datapipeline.deploy label_denied': async (stage) =>
    deploy(
      stage,
      { dag_id: 'above', content: ingestContent('above'), classification: secretClassification },
      await stage.site.token({ roles: ['admin'] }),
    ),
  async 'ingest.federation.dataset signature_invalid'(stage) {
    const { body } = await stage.signMessage('dataset', buildPeerPart('c'))
    return deliverPart(stage, { ...(await stage.signMessage('dataset', buildPeerPart('d'))), body })
  },
  'ingest.federation.dataset not_your_tenant': async (stage) =>
    deliverPart(stage, await stage.signMessage('dataset', buildPeerPart('e'), { receiver_tenant_id: 'charlie' })),
  'ingest.federation.dataset label_denied': async (stage) =>
    deliverPart(
      stage,
      await stage.signMessage('dataset', buildPeerPart('f'), { label: { ...secretLabel, level: 'TOP_SECRET' } }),
    ),
  async 'ingest.federation.dataset already_exists'(stage) {
    await deliverPart(stage, await stage.signMessage('dataset', buildPeerPart('1')))
    return deliverPart(stage, await stage.signMessage('dataset', buildPeerPart('1', { number: 2, name: 'other' })))
  },
  'ingest.datapipeline.deploy needs_airflow': (stage) =>
    deploy(stage, { dag_id: 'python', content: 'from airflow import DAG' }),
  'ingest.datapipeline.template not_found': ({ site, admin: token }) =>
    site.request('ingest', { method: 'GET', path: '/userspace/datapipeline/schema/ingest_nothing', token }),
  async 'ingest.datapipeline.update wrong_state'(stage) {
    return changePipeline(stage, await deployRejected(stage), { method: 'PATCH', body: { action: 'pause' } })
  },
  async 'ingest.datapipeline.update needs_airflow'(stage) {
    const { uid } = await deployPipeline(stage)
    return changePipeline(stage, uid, { method: 'PATCH', body: { content: 'from airflow import DAG' } })
  },
  async 'ingest.datapipeline.remove wrong_state'(stage) {
    return changePipeline(stage, await deployWaiting(stage), { method: 'DELETE' })
  },
  async 'ingest.datapipeline.run wrong_state'(stage) {
    return changePipeline(stage, await deployRejected(stage), { method: 'POST', rest: '/run', body: {} })
  },
  async 'ingest.dag-run.trigger wrong_state'(stage) {
    const { dag_id, dag_run_id } = await beginUnpinnedRun(stage)
    const { site, admin: token } = stage
    const body = { repeats: { dag_run_id, code: 'pinned' } }
    return site.request('ingest', { method: 'POST', path: `/userspace/dag/${dag_id}/run`, token, body })
  },
  'ingest.datapipeline.pause not_found': (stage) => refuseTool(stage, 'datapipeline_pause', unknownPipeline),
  'ingest.datapipeline.unpause not_found': (stage) => refuseTool(stage, 'datapipeline_unpause', unknownPipeline),
  'ingest.datapipeline.pause not_your_tenant': (stage) => refuseOtherTenant(stage, 'datapipeline_pause'),
  'ingest.datapipeline.unpause not_your_tenant': (stage) => refuseOtherTenant(stage, 'datapipeline_unpause'),
  'ingest.datapipeline.pause wrong_state': async (stage) =>
    refuseTool(stage, 'datapipeline_pause', await deployRejected(stage)),
  'ingest.datapipeline.unpause wrong_state': async (stage) =>
    refuseTool(stage, 'datapipeline_unpause', await deployRejected(stage)),
}
