// Scenarios for declared refusals of the ingest role that the walk does not cover.
import type { ExactResponse } from '../http/send-exact-request.ts'
import { callTool } from '../mcp/mcp-client.ts'
import { deployPipeline, ingestContent } from './ingest-samples.ts'
import { type OperationFixture, secretClassification } from './operation-fixture.ts'
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

const unknownPipeline = 'pl_00000000000000000000000000000000'

export const ingestRefusals: Readonly<Record<string, RefusalScenario>> = {
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
  'ingest.datapipeline.deploy needs_airflow': (stage) =>
    deploy(stage, { dag_id: 'python', content: 'from airflow import DAG' }),
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
  'ingest.datapipeline.pause not_found': (stage) => refuseTool(stage, 'datapipeline_pause', unknownPipeline),
  'ingest.datapipeline.unpause not_found': (stage) => refuseTool(stage, 'datapipeline_unpause', unknownPipeline),
  'ingest.datapipeline.pause not_your_tenant': (stage) => refuseOtherTenant(stage, 'datapipeline_pause'),
  'ingest.datapipeline.unpause not_your_tenant': (stage) => refuseOtherTenant(stage, 'datapipeline_unpause'),
  'ingest.datapipeline.pause wrong_state': async (stage) =>
    refuseTool(stage, 'datapipeline_pause', await deployRejected(stage)),
  'ingest.datapipeline.unpause wrong_state': async (stage) =>
    refuseTool(stage, 'datapipeline_unpause', await deployRejected(stage)),
}
