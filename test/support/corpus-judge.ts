// What is wrong with what became of a row of the corpus, by its weight: from a hole in the door down to a wish.
import type { Row } from './proxy-corpus.ts'
import { type Reached, valuesOf } from './reached.ts'

/** HIGH: a hole. MED: wrong. FUNC: a request that should be served was not. SHOULD and LOW: a stricter door would do otherwise. */
export type Weight = 'HIGH' | 'MED' | 'FUNC' | 'SHOULD' | 'LOW'
export type Finding = { readonly weight: Weight; readonly says: string }

export type Outcome = {
  readonly reached: readonly Reached[]
  /** All that the door said. */
  readonly text: string
  /** The connection goes on. */
  readonly isOpen: boolean
  /** Of the first answer that is final; undefined for none. */
  readonly status: number | undefined
  /** Requests that had reached the upstream after each of the row's further requests. */
  readonly then: readonly number[]
}

/** What the door was given to reach the upstream with. */
export type Given = { readonly authority: string; readonly token: string }

const found = (weight: Weight, says: string): Finding => ({ weight, says })
const shown = ({ method, target }: Reached) => `${method} ${target.slice(0, 80)}`

export function findings(row: Row, outcome: Outcome, given: Given): Finding[] {
  return [
    ...(row.expect.forward === false ? unwanted(row, outcome) : wanted(row, outcome)),
    ...outcome.reached.flatMap((request) => [...always(request, given), ...asTheRowHasIt(request, row)]),
    ...answered(row, outcome, given),
    ...cached(row, outcome),
  ]
}

/** The path after the prefix, in its normal form, with any query. */
const listed = (request: Reached): boolean =>
  request.method === 'GET'
    ? /^\/api\/v1\/report(\/(?!\.\.?(\?|$))[^/?#\\]+)?(\?[^#]*)?$/.test(request.target)
    : request.method === 'POST' && request.target === '/api/v1/feedback'

function unwanted({ expect }: Row, { reached, status }: Outcome): Finding[] {
  if (reached.length > 0) {
    const isHarmless = reached.length === 1 && reached.every((each) => listed(each) && each.oddities.length === 0)
    return [found(isHarmless ? 'SHOULD' : 'HIGH', `forwarded ${reached.map(shown).join(', ')}`)]
  }
  if (status === undefined || expect.status.includes(status)) return []
  return [found('LOW', `status ${status}`)]
}

function wanted({ expect }: Row, { reached, status }: Outcome): Finding[] {
  if (reached.length === 0) {
    if (expect.forward === true) return [found('FUNC', `not forwarded: ${status}`)]
    return status === undefined || expect.status.includes(status) ? [] : [found('LOW', `status ${status}`)]
  }
  const wrong = (expect.upstream ?? []).flatMap(({ method, path }, at) => {
    const request = reached[at]
    if (!request || (request.method === method && request.target === path)) return []
    return [found(listed(request) ? 'MED' : 'HIGH', `${shown(request)} where ${method} ${path} was wanted`)]
  })
  const isMore = reached.length > expect.upstream_max
  const isChanged = expect.body !== undefined && reached[0]?.body !== expect.body
  return [
    ...wrong,
    ...(isMore ? [found('HIGH', `${reached.length} requests became of it`)] : []),
    ...(isChanged ? [found('MED', 'the body was changed')] : []),
    ...(expect.should === 'reject' ? [found('SHOULD', 'forwarded, and could be refused')] : []),
  ]
}

function always(request: Reached, { authority, token }: Given): Finding[] {
  const wrong = request.oddities.map((oddity) => found('HIGH', oddity))
  const tokens = valuesOf(request, 'authorization')
  if (tokens.length !== 1 || tokens[0] !== `Bearer ${token}`) wrong.push(found('HIGH', 'authorization is not its own'))
  if (!listed(request)) wrong.push(found('HIGH', `${shown(request)} is not listed`))
  if (valuesOf(request, 'host')[0] !== authority) wrong.push(found('MED', 'the caller chose the host'))
  return wrong
}

function asTheRowHasIt(request: Reached, { expect }: Row): Finding[] {
  const has = (name: string) => valuesOf(request, name).length > 0
  const source = expect.source === 'peer' ? '127.0.0.1' : expect.source
  const [counted] = valuesOf(request, 'x-forwarded-for')
  return [
    ...(expect.absent ?? []).filter(has).map((name) => found('MED', `${name} reached the upstream`)),
    ...(expect.absent_should ?? []).filter(has).map((name) => found('SHOULD', `${name} reached the upstream`)),
    ...(expect.not_path ?? [])
      .filter((path) => request.target.startsWith(path))
      .map((path) => found('HIGH', `${path} was let in by the way`)),
    ...(source !== undefined && counted !== source ? [found('HIGH', `counted for ${counted}`)] : []),
  ]
}

function answered(row: Row, { text, isOpen, status, reached }: Outcome, { token }: Given): Finding[] {
  const { expect } = row
  const isKept = (name: string) => text.toLowerCase().includes(`\r\n${name}:`)
  const wrong = (expect.resp_absent ?? []).filter(isKept).map((name) => found('MED', `${name} was relayed`))
  if (text.includes(token)) wrong.push(found('HIGH', 'the token came back'))
  const isWrong = row.class === 'response' && status !== undefined && !expect.status.includes(status)
  if (isWrong) wrong.push(found('MED', `status ${status} of an answer`))
  if (expect.close && isOpen) wrong.push(found('MED', 'the connection goes on'))
  if (reached.length === 0 && status === 200) wrong.push(found('MED', `${status} from nowhere`))
  return wrong
}

function cached({ expect }: Row, { then }: Outcome): Finding[] {
  return then.flatMap((count) => [
    ...(count > (expect.then_upstream_max ?? Number.POSITIVE_INFINITY) ? [found('MED', `asked ${count} times`)] : []),
    ...(count < (expect.upstream_min ?? 0) ? [found('HIGH', 'answered from the cache')] : []),
  ])
}
