// The service token: requested once at a time, renewed before it expires, never logged, with a pause after a failure.
import { expect, test } from 'vitest'
import { type FormPoster, TokenSource } from './token-source.ts'

const client = { client_id: 'proxy:1', client_secret: 'not to be shown' }
const basic = `Basic ${Buffer.from('proxy%3A1:not+to+be+shown').toString('base64')}`

function createTokenSource(answers: (request_count: number) => { status: number; text: string } | Error) {
  let now = 1_000
  const requests: Parameters<FormPoster>[0][] = []
  const outcomes: string[] = []
  const logged: string[] = []
  const source = new TokenSource({
    client,
    async post(sent) {
      requests.push(sent)
      const answer = answers(requests.length)
      if (answer instanceof Error) throw answer
      return answer
    },
    monotonic: () => now,
    onFault: (outcome, fields) => void logged.push(JSON.stringify({ outcome, ...fields })),
    onOutcome: (outcome) => void outcomes.push(outcome),
  })
  return { source, requests, outcomes, logged, later: (ms: number) => (now += ms) }
}

const tokenAnswer = (token: string, expires_in: unknown = 100) => ({
  status: 200,
  text: JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in }),
})

test('concurrent callers share one token request', async () => {
  const { source, requests, outcomes } = createTokenSource(() => tokenAnswer('one'))
  expect(await Promise.all([source.token(), source.token(), source.token()])).toEqual(['one', 'one', 'one'])
  expect(requests).toEqual([{ authorization: basic, form: 'grant_type=client_credentials' }])
  expect(source.token()).toBe('one')
  expect(outcomes).toEqual(['minted'])
})

test('a token that expires soon is renewed in the background, and not used once expired', async () => {
  const { source, requests, later } = createTokenSource((count) => tokenAnswer(`token-${count}`))
  await source.token()
  later(49_999)
  expect(source.token()).toBe('token-1')
  expect(requests).toHaveLength(1)
  later(1)
  expect([source.token(), source.token()]).toEqual(['token-1', 'token-1'])
  expect(requests).toHaveLength(2)
  await expect.poll(() => source.token()).toBe('token-2')
  later(90_000)
  expect(source.token()).toBeInstanceOf(Promise)
})

test('an unreachable provider is not called with each request, and the current token serves until it expires', async () => {
  const { source, requests, outcomes, later } = createTokenSource((count) =>
    count === 1 ? tokenAnswer('current') : new Error('ECONNREFUSED'),
  )
  await source.token()
  later(60_000)
  expect(source.token()).toBe('current')
  await expect.poll(() => outcomes).toEqual(['minted', 'unreachable'])
  expect(source.token()).toBe('current')
  expect(requests).toHaveLength(2)
  later(30_000)
  expect(await source.token()).toBeUndefined()
  expect(requests).toHaveLength(3)
  later(999)
  expect(source.token()).toBeUndefined()
  expect(requests).toHaveLength(3)
  later(1)
  expect(await source.token()).toBeUndefined()
  expect(requests).toHaveLength(4)
})

test.each([
  ['an error', { status: 401, text: '{"error":"invalid_client","hint":"not to be shown"}' }],
  ['a redirect', { status: 302, text: '' }],
  ['no JSON', { status: 200, text: '<html>' }],
  ['another kind of token', { status: 200, text: '{"access_token":"a","token_type":"mac"}' }],
  ['a token that would be two headers', tokenAnswer('a\r\nX-Admin: 1')],
  ['a token without an end', tokenAnswer('a', 'never')],
])('%s is not accepted as a token', async (_, answer) => {
  const { source, outcomes } = createTokenSource(() => answer)
  expect(await source.token()).toBeUndefined()
  expect(outcomes).toEqual(['refused'])
})

test('the error text of a refusal is logged without the secret in any encoding, and without tokens', async () => {
  const reply = `not to be shown | not+to+be+shown | ${basic} | {"access_token":"eyJhbGciOi`
  const { source, logged } = createTokenSource(() => ({ status: 400, text: reply }))
  await source.token()
  expect(logged).toHaveLength(1)
  expect(logged[0]).toContain('"outcome":"refused"')
  expect(logged[0]).toContain('"status":400')
  for (const secret of ['not to be shown', 'not+to', basic.slice(6), 'eyJhbGciOi'])
    expect(logged[0]).not.toContain(secret)
})

test('a token without a lifetime is used for half a minute', async () => {
  const { source, later, requests } = createTokenSource(() => ({
    status: 200,
    text: '{"access_token":"a","token_type":"bearer"}',
  }))
  await source.token()
  later(29_999)
  source.token()
  expect(requests).toHaveLength(1)
  later(1)
  source.token()
  expect(requests).toHaveLength(2)
})
