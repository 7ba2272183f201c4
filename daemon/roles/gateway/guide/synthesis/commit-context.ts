// The common ground of the changes of one answer: where they belong, what they are checked against, and what the model was shown.

import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { escapeLine } from '../../../../kernel/text/escape-line.ts'
import { shortenText } from '../../../../kernel/text/shorten-text.ts'
import type { Artifact } from '../artifact/model.ts'
import type { ChangeGround } from '../audit/entry.ts'
import type { GraphView } from '../drift/graph-view.ts'
import type { GraphScope } from '../graph/rules.ts'
import { type RecordedDrift, recordDrift } from '../learning/synthesise.ts'
import type { TraceRecord } from '../learning/trace-record.ts'
import { proposals } from '../proposal/model.ts'
import type { ChangeOutcome } from './metrics.ts'

export type CommitContext = {
  readonly call: Call
  readonly scope: GraphScope
  readonly graph: GraphView
  readonly traces: readonly TraceRecord[]
  readonly active: readonly Doc<Artifact>[]
  /** By id: the model may touch no other. */
  readonly shown: ReadonlyMap<string, Doc<Artifact>>
  /** Of the model, for the whole answer. */
  readonly confidence: number
  /** What persons and tools have written in the trace, which no artifact may repeat. */
  readonly source: string
}

const max_rationale = 480
/** Proposals of a tenant that wait, records of drift included. */
const max_held = 200
const hour_ms = 3_600_000

export const curatorGround = { actor: 'curator_auto', trigger: 'synthesis_proposal' } as const

/** Text of a model as a quotation of one line. */
export function quoteModel(text: string): string {
  return `The model of the layer: "${escapeLine(shortenText(text, max_rationale)).replaceAll('"', "'")}"`
}

export const groundOf = (rationale: string): ChangeGround => ({ ...curatorGround, rationale: quoteModel(rationale) })

/** An administrator has decided on it last: the curator does not decide otherwise by itself. */
export const isAdminDecided = ({ actor }: Artifact): boolean => actor.startsWith('admin:')

/** Of a tenant: a model without an end to its proposals fills neither the store nor the list of its administrators. */
export async function hasManyHeld({ call, scope }: CommitContext): Promise<boolean> {
  const filter = { tenant_id: scope.tenant_id }
  const [held, open] = await Promise.all([
    call.store(proposals).count({ ...filter, status: 'held' }),
    call.store(proposals).count({ ...filter, status: 'open' }),
  ])
  return held + open >= max_held
}

/** For review; the same finding on the same artifact is recorded once an hour. */
export async function holdForReview(
  context: CommitContext,
  finding: RecordedDrift,
  { subject, rationale }: { readonly subject: string; readonly rationale: string },
): Promise<ChangeOutcome> {
  if (await hasManyHeld(context)) return 'refused'
  const { call, scope } = context
  const occasion = `${subject} ${Math.floor(call.now() / hour_ms)}`
  await recordDrift(
    call,
    scope,
    finding,
    occasion,
    `${subject}, which the figures do not carry. ${quoteModel(rationale)}`,
  )
  return 'held'
}
