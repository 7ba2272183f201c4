// The faults in the outcome of a row of the corpus, by weight: from a hole in the proxy down to a wish.
import type { CorpusRow } from './corpus-row.ts'
import { type ForwardedRequest, listFieldValues } from './recording-upstream.ts'

/** HIGH: a hole. MED: wrong. FUNC: a request that should be served was not. SHOULD and LOW: a stricter proxy would do otherwise. */
export type FindingSeverity = 'HIGH' | 'MED' | 'FUNC' | 'SHOULD' | 'LOW'
export type CorpusFinding = { readonly severity: FindingSeverity; readonly detail: string }

export type CorpusOutcome = {
  readonly reached: readonly ForwardedRequest[]
  /** All bytes that the proxy sent. */
  readonly text: string
  /** The connection goes on. */
  readonly isOpen: boolean
  /** Of the first answer that is final; undefined for none. */
  readonly status: number | undefined
  /** Requests that had reached the upstream after each of the row's further requests. */
  readonly then: readonly number[]
}

/** The proxy's credentials for the upstream. */
export type UpstreamCredentials = { readonly authority: string; readonly token: string }

const createFinding = (weight: FindingSeverity, says: string): CorpusFinding => ({ severity: weight, detail: says })
const describeRequest = ({ method, target }: ForwardedRequest) => `${method} ${target.slice(0, 80)}`

export function judgeCorpusRow(
  row: CorpusRow,
  outcome: CorpusOutcome,
  credentials: UpstreamCredentials,
): CorpusFinding[] {
  return [
    ...(row.expect.forward === false ? judgeUnwanted(row, outcome) : judgeWanted(row, outcome)),
    ...outcome.reached.flatMap((request) => [...judgeForwarded(request, credentials), ...compareWithRow(request, row)]),
    ...judgeAnswer(row, outcome, credentials),
    ...judgeCaching(row, outcome),
  ]
}

/** The path after the prefix, in its normal form, with any query. */
const isListed = (request: ForwardedRequest): boolean =>
  request.method === 'GET'
    ? /^\/api\/v1\/report(\/(?!\.\.?(\?|$))[^/?#\\]+)?(\?[^#]*)?$/.test(request.target)
    : request.method === 'POST' && request.target === '/api/v1/feedback'

function judgeUnwanted({ expect }: CorpusRow, { reached, status }: CorpusOutcome): CorpusFinding[] {
  if (reached.length > 0) {
    const isHarmless = reached.length === 1 && reached.every((each) => isListed(each) && each.oddities.length === 0)
    return [createFinding(isHarmless ? 'SHOULD' : 'HIGH', `forwarded ${reached.map(describeRequest).join(', ')}`)]
  }
  if (status === undefined || expect.status.includes(status)) return []
  return [createFinding('LOW', `status ${status}`)]
}

function judgeWanted({ expect }: CorpusRow, { reached, status }: CorpusOutcome): CorpusFinding[] {
  if (reached.length === 0) {
    if (expect.forward === true) return [createFinding('FUNC', `not forwarded: ${status}`)]
    return status === undefined || expect.status.includes(status) ? [] : [createFinding('LOW', `status ${status}`)]
  }
  const wrong = (expect.upstream ?? []).flatMap(({ method, path }, at) => {
    const request = reached[at]
    if (!request || (request.method === method && request.target === path)) return []
    return [
      createFinding(
        isListed(request) ? 'MED' : 'HIGH',
        `${describeRequest(request)} where ${method} ${path} was wanted`,
      ),
    ]
  })
  const isMore = reached.length > expect.upstream_max
  const isChanged = expect.body !== undefined && reached[0]?.body !== expect.body
  return [
    ...wrong,
    ...(isMore ? [createFinding('HIGH', `${reached.length} requests became of it`)] : []),
    ...(isChanged ? [createFinding('MED', 'the body was changed')] : []),
    ...(expect.should === 'reject' ? [createFinding('SHOULD', 'forwarded, and could be refused')] : []),
  ]
}

function judgeForwarded(request: ForwardedRequest, { authority, token }: UpstreamCredentials): CorpusFinding[] {
  const wrong = request.oddities.map((oddity) => createFinding('HIGH', oddity))
  const tokens = listFieldValues(request, 'authorization')
  if (tokens.length !== 1 || tokens[0] !== `Bearer ${token}`)
    wrong.push(createFinding('HIGH', 'authorization is not its own'))
  if (!isListed(request)) wrong.push(createFinding('HIGH', `${describeRequest(request)} is not listed`))
  if (listFieldValues(request, 'host')[0] !== authority) wrong.push(createFinding('MED', 'the caller chose the host'))
  return wrong
}

function compareWithRow(request: ForwardedRequest, { expect }: CorpusRow): CorpusFinding[] {
  const has = (name: string) => listFieldValues(request, name).length > 0
  const source = expect.source === 'peer' ? '127.0.0.1' : expect.source
  const [counted] = listFieldValues(request, 'x-forwarded-for')
  return [
    ...(expect.absent ?? []).filter(has).map((name) => createFinding('MED', `${name} reached the upstream`)),
    ...(expect.absent_should ?? []).filter(has).map((name) => createFinding('SHOULD', `${name} reached the upstream`)),
    ...(expect.not_path ?? [])
      .filter((path) => request.target.startsWith(path))
      .map((path) => createFinding('HIGH', `${path} was let in by the way`)),
    ...(source !== undefined && counted !== source ? [createFinding('HIGH', `counted for ${counted}`)] : []),
  ]
}

function judgeAnswer(
  row: CorpusRow,
  { text, isOpen, status, reached }: CorpusOutcome,
  { token }: UpstreamCredentials,
): CorpusFinding[] {
  const { expect } = row
  const isKept = (name: string) => text.toLowerCase().includes(`\r\n${name}:`)
  const wrong = (expect.resp_absent ?? []).filter(isKept).map((name) => createFinding('MED', `${name} was relayed`))
  if (text.includes(token)) wrong.push(createFinding('HIGH', 'the token came back'))
  const isWrong = row.class === 'response' && status !== undefined && !expect.status.includes(status)
  if (isWrong) wrong.push(createFinding('MED', `status ${status} of an answer`))
  if (expect.close && isOpen) wrong.push(createFinding('MED', 'the connection goes on'))
  if (reached.length === 0 && status === 200) wrong.push(createFinding('MED', `${status} from nowhere`))
  return wrong
}

function judgeCaching({ expect }: CorpusRow, { then }: CorpusOutcome): CorpusFinding[] {
  return then.flatMap((count) => [
    ...(count > (expect.then_upstream_max ?? Number.POSITIVE_INFINITY)
      ? [createFinding('MED', `requested ${count} times`)]
      : []),
    ...(count < (expect.upstream_min ?? 0) ? [createFinding('HIGH', 'answered from the cache')] : []),
  ])
}
