// Each mistake in the declaration of a role is reported before the role runs.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type AnyJobKind, jobKind } from '../job/job.ts'
import { jobFields } from '../job/job-fields.ts'
import { jobLeases } from '../job/lease.ts'
import { type AnyOperation, type Operation, operation } from '../operation/operation.ts'
import { sealedSecret } from '../secret/sealed-secret.ts'
import { type ListenerDeclaration, listenerFields, serviceListenerFields } from '../settings/listener-settings.ts'
import { toolFields } from '../settings/platform-settings.ts'
import { settingsBlock } from '../settings/settings.ts'
import { collection } from '../store/store.ts'
import { findDeclarationFaults } from './declaration-faults.ts'
import { outline, type Role, role } from './role.ts'

const listener: ListenerDeclaration<''> = { prefix: '', env: 'INGEST', port: 8008 }
const secure: ListenerDeclaration<'secure_'> = { prefix: 'secure_', env: 'INGEST_SECURE', port: 8443 }
const fields = { ...serviceListenerFields(listener), ...toolFields('INGEST') }
const settings = settingsBlock('ingest', fields)

const ingest = outline({
  name: 'ingest',
  purpose: 'Lands data',
  listeners: [listener],
  serves: 'tenants',
  api_prefix: '/userspace',
  needs: ['site'],
  settings: [settings],
  takes: {},
  load: async (): Promise<Role> => sound,
})

const contents = {
  collections: [],
  metrics: [],
  workers: [],
  operations: {},
  messages: {},
  serviceInfo: () => ({ name: 'ingest' }),
}
const sound: Role = role(ingest, contents)

const declareOperation = (changes: Partial<Operation> = {}): AnyOperation =>
  operation({
    summary: 'Get a pipeline',
    method: 'GET',
    path: '/userspace/datapipeline/{uid}',
    input: z.strictObject({ uid: z.string() }),
    output: z.strictObject({}),
    errors: [],
    allow: 'ingest:read',
    run: async () => ({}),
    ...changes,
  })

/** Without a path and a tool. */
const declareResourceOperation = () => {
  const { path: _path, ...rest } = declareOperation()
  return operation({ ...rest, surface: 'agentspace' })
}

const withOperation = (changes: Partial<Operation>) => ({
  operations: { pipeline: { get: declareOperation(changes) } },
})

const stored = z.strictObject({ tenant_id: z.string(), created_by: z.string(), created_at: z.string(), ...jobFields })
const runs = collection({ name: 'run', schema: stored, indexes: ['job_due_ts', 'created_at', 'created_by'] })
const unindexed = collection({ name: 'run', schema: stored, indexes: ['created_at'] })
const secretive = collection({
  name: 'connection',
  schema: z.strictObject({ tenant_id: z.string(), password: sealedSecret }),
  indexes: [],
})

const declareJob = (jobs_of: typeof runs): AnyJobKind =>
  jobKind({
    name: 'run',
    collection: jobs_of,
    allow: 'ingest:run',
    limits: () => ({ at_once: 1, at_once_per_tenant: 1 }),
    stepLimit_ms: () => 1_000,
    waits: { first_ms: 1_000, longest_ms: 60_000 },
    step: async () => undefined,
    fail: (value) => value,
  })

const get = declareOperation()
const resource = { uri: 'templates://dags/{uid}', name: 'dag', description: 'A template', operation: get }

type Mistake = readonly [name: string, changes: Partial<Role>, fault: string]
const mistakes: readonly Mistake[] = [
  [
    'no section of its own name',
    { settings: [settingsBlock('pipelines', { uid: z.string() })] },
    'its section "ingest" lacks listen of a listener: spread in its fields',
  ],
  [
    'a listener without its settings',
    { listeners: [listener, secure] },
    'its section "ingest" lacks secure_listen of a listener: spread in its fields',
  ],
  [
    'the settings of a listener that is not declared',
    { settings: [settingsBlock('ingest', { ...fields, ...listenerFields(secure) })] },
    'ingest.secure_listen is of no listener that its outline declares',
  ],
  [
    'a listener in another section',
    { settings: [settings, settingsBlock('pipelines', listenerFields(secure))] },
    'pipelines.secure_listen is of no listener: declare it in section "ingest"',
  ],
  [
    'two listeners of one prefix',
    { listeners: [listener, { prefix: '', env: 'OTHER', port: 8009 }] },
    'two listeners with the prefix ""',
  ],
  [
    'two listeners that the same variables set',
    { listeners: [listener, { ...secure, env: 'INGEST' }] },
    'two listeners with the variables INGEST_',
  ],
  [
    'a prefix that reads as part of a word',
    { listeners: [listener, { ...secure, prefix: 'secure' }] },
    'the prefix "secure" of a listener is not lower-case words, each with an underscore',
  ],
  [
    'tools that no setting switches off',
    {
      settings: [settingsBlock('ingest', serviceListenerFields(listener))],
      ...withOperation({ tool: 'datapipeline_get' }),
    },
    'it has tools: its section "ingest" needs toolFields',
  ],
  [
    'a parameter that is not an input',
    withOperation({ path: '/userspace/datapipeline/{id}' }),
    'ingest.pipeline.get: {id} is not a field of its input',
  ],
  [
    'a parameter of a second path that is not an input',
    withOperation({ also: ['/api/v1/datapipeline/{id}'] }),
    'ingest.pipeline.get: {id} is not a field of its input',
  ],
  [
    'a parameter that no router reads',
    withOperation({ path: '/userspace/datapipeline/{dagId}' }),
    'ingest.pipeline.get: a parameter of /userspace/datapipeline/{dagId} is not lower-case letters and underscores',
  ],
  [
    'an input that drops fields',
    withOperation({ input: z.object({ uid: z.string() }) }),
    'ingest.pipeline.get: its input must be a strict object: other fields would be dropped in silence',
  ],
  ['two collections of one name', { collections: [runs, unindexed] }, 'two collections named run'],
  [
    'a job without leases',
    { collections: [runs], jobs: [declareJob(runs)] },
    'it has jobs: its collections need jobLeases',
  ],
  [
    'a job whose documents it does not store',
    { collections: [jobLeases], jobs: [declareJob(runs)] },
    'the collection of the job run is not among its collections',
  ],
  [
    'a job that nobody finds when it is due',
    { collections: [unindexed, jobLeases], jobs: [declareJob(unindexed)] },
    'the collection of the job run needs the index job_due_ts',
  ],
  [
    'jobs in series that nobody finds by their series',
    { collections: [runs, jobLeases], jobs: [{ ...declareJob(runs), serial_by: 'peer' }] },
    'the collection of the job run needs the index peer',
  ],
  [
    'two kinds of jobs of one name',
    { collections: [runs, jobLeases], jobs: [declareJob(runs), declareJob(runs)] },
    'two kinds of jobs named run',
  ],
  ['secrets without data keys', { collections: [secretive] }, 'it stores secrets: its collections need dataKeys'],
  [
    'a message for an operation that nothing finds',
    { messages: { notice: get } },
    'the operation that takes "notice" is not among its operations',
  ],
  [
    'a message that no schema describes',
    { operations: { pipeline: { get } }, messages: { notice: get } },
    'the operation that takes "notice" must be a federationOperation of this kind',
  ],
  [
    'a resource behind a change',
    { resources: [{ ...resource, operation: declareOperation({ method: 'POST' }) }] },
    'the operation behind templates://dags/{uid} must be a GET',
  ],
  [
    'a resource with a field that its operation does not take',
    { resources: [{ ...resource, uri: 'templates://dags/{dag_type}' }] },
    '{dag_type} of templates://dags/{dag_type} is not a field of the input of its operation',
  ],
  [
    'a resource whose field is another of the input than it says',
    { resources: [{ ...resource, uri: 'templates://dags/{dag_type}', fields: { dag_type: 'type' } }] },
    '{dag_type} of templates://dags/{dag_type} is not a field of the input of its operation',
  ],
  [
    'an operation of resources that none names',
    { operations: { pipeline: { get: declareResourceOperation() } } },
    'ingest.pipeline.get has neither a path, nor a tool, nor a resource',
  ],
]

test('a resource renames fields of its URI, and may have an operation of its own', () => {
  const own = declareResourceOperation()
  const resources = [{ ...resource, uri: 'templates://dags/{dag}', fields: { dag: 'uid' }, operation: own }]
  expect(findDeclarationFaults({ ...sound, operations: { pipeline: { get: own } }, resources })).toEqual([])
})

test.each(mistakes)('%s', (_, changes, fault) => {
  expect(findDeclarationFaults({ ...sound, ...changes })).toContain(fault)
})

test('a form may drop fields, and two methods may share a path', () => {
  const form = declareOperation({
    method: 'POST',
    consumes: 'application/x-www-form-urlencoded',
    input: z.object({ uid: z.string() }),
  })
  expect(findDeclarationFaults({ ...sound, operations: { pipeline: { get, form } } })).toEqual([])
})

test('a role with a mistake cannot be declared', () => {
  expect(() => role(ingest, { ...contents, collections: [runs, runs] })).toThrow(
    'the role ingest is declared wrongly: two collections named run',
  )
})
