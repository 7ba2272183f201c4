// Sessions and messages that the refusals of consensus and its peers begin with.
import type { ExactResponse } from '../http/send-exact-request.ts'
import { buildContribution, buildSessionInput, type OperationFixture, secretLabel } from './operation-fixture.ts'
import { postRequest, sessions } from './post-request.ts'

type FederationKind = 'contribution' | 'invitation' | 'result' | 'lens_emission'

export type RefusalScenario = (stage: OperationFixture) => Promise<ExactResponse>

export type RequestFields = Readonly<Record<string, unknown>>

export async function createSession(stage: OperationFixture, more: RequestFields = {}): Promise<string> {
  return ((await postRequest(stage, sessions, buildSessionInput(more))).json as { id: string }).id
}

/** The session after these scores of alice, bob and carol. */
export async function createScoredSession(
  stage: OperationFixture,
  scores: readonly number[],
  more: RequestFields = {},
): Promise<string> {
  const id = await createSession(stage, more)
  for (const [at, score] of scores.entries()) {
    await postRequest(
      stage,
      `${sessions}/${id}/contribution`,
      buildContribution(['alice', 'bob', 'carol'][at] ?? '', score),
    )
  }
  return id
}

/** A statement above the ceiling of its channel. */
export const labelAboveCeiling = { label: { ...secretLabel, level: 'TOP_SECRET' } }

export async function deliverMessage(
  stage: OperationFixture,
  kind: FederationKind,
  fields: RequestFields,
  change: RequestFields = {},
) {
  return postRequest(stage, `/api/v2/federation/${kind}`, await stage.signMessage(kind, fields, change))
}

/** The honest envelope with the body of another message. */
export async function deliverTampered(
  stage: OperationFixture,
  kind: FederationKind,
  fields: RequestFields,
  change: RequestFields,
) {
  const { body } = await stage.signMessage(kind, { ...fields, ...change })
  return postRequest(stage, `/api/v2/federation/${kind}`, { ...(await stage.signMessage(kind, fields)), body })
}
