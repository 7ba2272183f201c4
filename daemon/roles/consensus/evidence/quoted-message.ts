// Compares the message that a block quotes as the proof of a contribution with the contribution beside it.
import { isCanonicalBase64url } from '../../../kernel/cryptography/public-jwk.ts'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { unlabelledBody } from '../../../kernel/messaging/statement.ts'
import { parseUnlabelledStatement, type UnlabelledStatement } from '../../../kernel/messaging/statement-format.ts'
import { runToEnd } from '../../../kernel/role/run-to-end.ts'
import { readSignedBody } from '../../../shared/federation-message/signed-body.ts'
import { contributionMessage } from '../session/contribution/model.ts'
import type { ProvenContribution, ProvenEvidence } from './model.ts'

export type QuotedMessage = {
  readonly statement: UnlabelledStatement
  readonly data: ReturnType<typeof contributionMessage.parse>
}

/** The message of the proof; undefined without one, or when statement and body are not those of a contribution. */
export function readQuotedMessage({ proof }: ProvenContribution): QuotedMessage | undefined {
  if (proof?.type !== 'message' || !isCanonicalBase64url(proof.envelope.payload)) return undefined
  const statement = parseUnlabelledStatement(Buffer.from(proof.envelope.payload, 'base64url'))
  if (!statement) return undefined
  const encoded = Buffer.from(proof.body).toString('base64url')
  const body = runToEnd(readSignedBody(statement, 'contribution', encoded, unlabelledBody))
  const data = contributionMessage.safeParse(body?.data)
  return data.success ? { statement, data: data.data } : undefined
}

/**
 * Why the contribution is not as its sender sent it; undefined for one that is, and for one without a message. `message`: as
 * read from its proof.
 */
export function findQuotedMessageFault(
  content: ProvenEvidence,
  contribution: ProvenContribution,
  message: QuotedMessage | undefined,
): string | undefined {
  const { contributor_id, msg_id, proof } = contribution
  const isFederated = msg_id !== undefined
  if (isFederated !== (proof?.type === 'message'))
    return `${contributor_id}: a contribution of another site must carry its message, and no other may`
  if (!isFederated) return undefined
  if (!message) return `${contributor_id}: the proof is not the message of a contribution`
  const differences = listDifferences(content, contribution, message)
  return differences.length > 0
    ? `${contributor_id}: the block differs from the sender’s message in ${differences.join(', ')}`
    : undefined
}

function listDifferences(
  { site, tenant_id, session_id }: ProvenEvidence,
  quoted: ProvenContribution,
  { statement, data }: QuotedMessage,
): string[] {
  const pairs: Readonly<Record<string, readonly [unknown, unknown]>> = {
    'the receiving site': [site, statement.dst],
    'the receiving tenant': [tenant_id, statement.receiver_tenant_id],
    contributor_id: [quoted.contributor_id, statement.sender_tenant_id],
    msg_id: [quoted.msg_id, statement.msg_id],
    session_id: [session_id, data.session_id],
    pair_score: [quoted.pair_score, data.pair_score],
    accuracy: [quoted.accuracy, data.accuracy],
    credibility: [quoted.credibility, data.credibility],
    // The origin translates the labels of another policy, by a map that the block does not hold.
    ...(quoted.classification.policy === data.classification.policy
      ? { classification: [canonicalJson(quoted.classification), canonicalJson(data.classification)] as const }
      : {}),
  }
  return Object.entries(pairs).flatMap(([name, [stated, sent]]) => (stated === sent ? [] : [name]))
}
