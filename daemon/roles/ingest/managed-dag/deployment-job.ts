// A deployment as a job: commits the content of an object to the DAG repository, waits for its check, makes its DAG live, and triggers
// a first run.
import type { Refusal } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Collection, Doc } from '../../../kernel/store/store.ts'
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { ContentReading } from './content-reading.ts'
import { endWithFault } from './end-deployment.ts'
import { asManaged, type ManagedDag } from './model.ts'
import { proposeContent } from './propose-content.ts'
import { publishContent } from './publish-content.ts'
import { startFirstRun } from './start-first-run.ts'

const minute_ms = 60_000

type DeploymentDeclaration<T extends ManagedDag> = DagClaims & {
  readonly name: string
  readonly collection: Collection<T>
  readonly read: (value: T) => ContentReading
}

export type DagClaims = {
  /** Claims what the DAG needs alone, before it is live; its refusal rejects the content. */
  readonly claim?: (call: Call, doc: Doc<ManagedDag>, dag: AssembledDag) => Promise<Refusal | undefined>
  /** Frees what the DAG before needed alone, once this one is live. */
  readonly release?: (call: Call, doc: Doc<ManagedDag>, dag: AssembledDag) => Promise<void>
}

/** `doc`: as it is before the step. */
export type Deployment = DagClaims & {
  readonly call: JobCall
  readonly collection: Collection<ManagedDag>
  readonly doc: Doc<ManagedDag>
  readonly reading: ContentReading
}

/** A content that is refused leaves the DAG before it live. */
export function deploymentJobOf<T extends ManagedDag>(declaration: DeploymentDeclaration<T>) {
  const { name, collection, read, ...claims } = declaration
  const managed = asManaged(collection)
  return jobKind<ManagedDag>({
    name,
    collection: managed,
    allow: 'ingest:write',
    allowOf: ({ deployed_by }) => deployed_by ?? 'ingest:write',
    limits: () => ({ at_once: 4, at_once_per_tenant: 2 }),
    stepLimit_ms: () => 5 * minute_ms,
    waits: { first_ms: 1_000, longest_ms: minute_ms },
    async step(call, doc) {
      if (doc.value.auto_start) return await startFirstRun(call, managed, doc, doc.value.auto_start)
      const deployment = { ...claims, call, collection: managed, doc, reading: read(doc.value as T) }
      return doc.value.proposal?.commit === undefined
        ? await proposeContent(deployment)
        : await publishContent(deployment, doc.value.proposal.commit)
    },
    fail: (value, { failure, at }) => endWithFault(value, 'error', { reason: failure.reason }, at),
  })
}
