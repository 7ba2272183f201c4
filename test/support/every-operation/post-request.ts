// Requests that the refusals of several roles begin with.
import { buildSessionInput, type OperationFixture, secretLabel } from './operation-fixture.ts'

export const matchSessions = '/api/v2/consensus/match_session'

export function buildMatchSession(digit: string) {
  const { classification: _level, ...input } = buildSessionInput()
  const subject = { kind: 'entity_match', left: 'a/1', right: 'b/1' }
  return { ...input, id: `ses_${digit.repeat(32)}`, tenant_id: 'alpha', label: secretLabel, subject }
}

export const sessions = '/api/v2/consensus/session'

/** The token of the carrier for a message of a peer, and of the admin for anything else. */
export function tokenFor({ admin, carrier }: OperationFixture, path: string): string {
  return /\/federation\/|\/site\/(keyset|peerhead)$/.test(path) ? carrier : admin
}

export function postRequest(
  stage: OperationFixture,
  path: string,
  body: unknown,
  more: { token?: string; key?: string } = {},
) {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (more.key !== undefined) headers['idempotency-key'] = more.key
  const role = path.startsWith('/api/v2/site/') ? 'site' : 'consensus'
  const token = more.token ?? tokenFor(stage, path)
  return stage.site.request(role, { method: 'POST', path, token, headers, body: JSON.stringify(body) })
}
