// One good request for each operation of the ingest role.
import { dagRuns, runDocumentId } from '../../../daemon/roles/ingest/runner/model.ts'
import { waitUntil } from '../site/test-site.ts'
import { type OperationFixture, secretClassification } from './operation-fixture.ts'
import type { OperationSamples } from './operation-samples.ts'

export function ingestContent(dag_id: string, file = 'people.csv'): string {
  return JSON.stringify({ format: 1, dag_id, tasks: [{ name: 'read', operator: 'ingest_file', params: { file } }] })
}

/** The first of two parts. */
export function buildPeerPart(set: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    ...{ set_id: set.repeat(32), name: 'orders', number: 1, parts: 2, total_rows: 2, sha256: '0'.repeat(64) },
    ...{ columns: [{ name: 'id', type: 'int64' }], rows: [['1']], ...more },
  }
}

let pipelines = 0

const path = '/userspace/datapipeline'

/** Deploys a pipeline of a DAG that no other has, and waits until its check has ended. */
export async function deployPipeline(stage: OperationFixture, more: Readonly<Record<string, unknown>> = {}) {
  const dag_id = `sample_${++pipelines}`
  const { site, admin: token } = stage
  const body = { dag_id, content: ingestContent(dag_id), classification: secretClassification, ...more }
  const { json } = await site.request('ingest', { method: 'POST', path, token, body })
  const { uid } = json as { uid: string }
  return await waitUntil(async () => {
    const shown = (await site.request('ingest', { method: 'GET', path: `${path}/${uid}`, token })).json
    return (shown as { status: string }).status !== 'pending_validation' && { uid, dag_id }
  })
}

function storeOf({ site }: OperationFixture) {
  return site.running.services.find(({ role }) => role.name === 'ingest')?.context.store
}

async function beginRun(stage: OperationFixture) {
  const { uid, dag_id } = await deployPipeline(stage)
  const { site, admin: token } = stage
  const { json } = await site.request('ingest', { method: 'POST', path: `${path}/${uid}/run`, token, body: {} })
  const { dag_run_id } = json as { dag_run_id: string }
  return { id: runDocumentId(uid, dag_run_id), dag_id, dag_run_id }
}

/** A run that is over, with its metrics and its signal: nothing writes of it any more. */
async function triggerRun(stage: OperationFixture) {
  const { id, dag_id, dag_run_id } = await beginRun(stage)
  return await waitUntil(async () => {
    const run = (await storeOf(stage)?.get(dagRuns, id))?.value
    const isSettled = run?.ended_at !== undefined && run.unmeasured === undefined && run.unsignalled === undefined
    return isSettled && { dag_id, dag_run_id }
  })
}

/** A run without a commit, as an earlier release began it. */
export async function beginUnpinnedRun(stage: OperationFixture) {
  const { id, ...run } = await beginRun(stage)
  await storeOf(stage)?.update(dagRuns, id, ({ value: { commit: _commit, ...next } }) => ({ next, answer: undefined }))
  return run
}

let connections = 0

export function buildConnection(more: Readonly<Record<string, unknown>> = {}) {
  const name = `sample ${++connections}`
  return { name, conn_type: 'sqlite', config: { file: 'sample.db' }, classification: secretClassification, ...more }
}

export async function createConnection({ site, admin: token }: OperationFixture): Promise<string> {
  const body = buildConnection()
  const { json } = await site.request('ingest', { method: 'POST', path: '/userspace/connection', token, body })
  return (json as { uid: string }).uid
}

const ofConnection = async (stage: OperationFixture) => ({ input: { uid: await createConnection(stage) } })

const newConnectionSample = () => {
  const input = buildConnection()
  return { input, keyed: { input: buildConnection(), another: { description: 'another' } } }
}

const ofPipeline = async (stage: OperationFixture) => ({ input: { uid: (await deployPipeline(stage)).uid } })
const ofDag = async (stage: OperationFixture) => ({ input: { dag_id: (await deployPipeline(stage)).dag_id } })
const ofRun = async (stage: OperationFixture) => ({ input: await triggerRun(stage) })

export const ingestSamples: OperationSamples = {
  'ingest.connection.schema': () => ({ input: { conn_type: 'postgres' } }),
  'ingest.connection.create': newConnectionSample,
  'ingest.connection.register': newConnectionSample,
  'ingest.connection.get': ofConnection,
  'ingest.connection.update': async (stage) => ({
    input: { uid: await createConnection(stage), description: 'a sample' },
  }),
  'ingest.connection.revise': async (stage) => ({
    input: { uid: await createConnection(stage), description: 'a sample' },
    isTenants: true,
  }),
  'ingest.connection.remove': ofConnection,
  'ingest.connection.test': ofConnection,
  'ingest.federation.dataset': async ({ signMessage }) => ({ input: await signMessage('dataset', buildPeerPart('a')) }),
  'ingest.datapipeline.deploy': () => {
    const build = (dag_id: string) => ({ dag_id, content: ingestContent(dag_id), classification: secretClassification })
    return {
      input: build(`sample_${++pipelines}`),
      keyed: { input: build(`sample_${++pipelines}`), another: { description: 'another' } },
    }
  },
  'ingest.datapipeline.get': ofPipeline,
  'ingest.datapipeline.update': async (stage) => {
    return { input: { uid: (await deployPipeline(stage)).uid, description: 'a sample' } }
  },
  'ingest.datapipeline.remove': ofPipeline,
  'ingest.datapipeline.status': ofPipeline,
  'ingest.datapipeline.run': async (stage) => {
    const { input } = await ofPipeline(stage)
    return { input, keyed: { input, another: { conf: { another: true } } } }
  },
  'ingest.datapipeline.pause': async (stage) => ({ ...(await ofPipeline(stage)), isTenants: true }),
  'ingest.datapipeline.unpause': async (stage) => ({ ...(await ofPipeline(stage)), isTenants: true }),
  'ingest.datapipeline.stop': ofPipeline,
  'ingest.datapipeline.runs': ofPipeline,
  'ingest.datapipeline.metrics': ofPipeline,
  'ingest.datapipeline.template': () => ({ input: { template_name: 'ingest_file' }, isTenants: false }),
  'ingest.datapipeline-schedule.set': async (stage) => {
    return { input: { uid: (await deployPipeline(stage)).uid, timezone: 'Europe/Berlin' } }
  },
  'ingest.datapipeline-schedule.get': ofPipeline,
  // A tenant has DAGs of its own names: that of another is one that is not there.
  'ingest.dag-run.trigger': async (stage) => {
    const { input } = await ofDag(stage)
    return { input, isTenants: false, keyed: { input, another: { conf: { another: true } } } }
  },
  'ingest.dag-run.list': ofDag,
  'ingest.dag-run.get': ofRun,
  'ingest.dag-run.status': ofRun,
  'ingest.dag-run.errors': ofRun,
  'ingest.dag-run.remove': async (stage) => ({ ...(await ofRun(stage)), isTenants: false }),
}
