// The service's own token: asked for once at a time, renewed before it ends, never told of, and not begged for.
import { expect, test } from 'vitest'
import { type FormPoster, TokenSource } from './token-source.ts'

const client = { client_id: 'door:1', client_secret: 'not to be told' }
const basic = `Basic ${Buffer.from('door%3A1:not+to+be+told').toString('base64')}`

function createTokenSource(answers: (asked: number) => { status: number; text: string } | Error) {
  let now = 1_000
  const asked: Parameters<FormPoster>[0][] = []
  const told: string[] = []
  const logged: string[] = []
  const line = (event: string, fields?: object) => void logged.push(JSON.stringify({ event, ...fields }))
  const source = new TokenSource({
    client,
    async post(sent) {
      asked.push(sent)
      const answer = answers(asked.length)
      if (answer instanceof Error) throw answer
      return answer
    },
    monotonic: () => now,
    log: { debug: line, info: line, warn: line, error: line },
    onOutcome: (outcome) => void told.push(outcome),
  })
  return { source, asked, told, logged, later: (ms: number) => (now += ms) }
}

const tokenAnswer = (token: string, expires_in: unknown = 100) => ({
  status: 200,
  text: JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in }),
})

test('many who wait are given the answer to one question', async () => {
  const { source, asked, told } = createTokenSource(() => tokenAnswer('one'))
  expect(await Promise.all([source.token(), source.token(), source.token()])).toEqual(['one', 'one', 'one'])
  expect(asked).toEqual([{ authorization: basic, form: 'grant_type=client_credentials' }])
  expect(source.token()).toBe('one')
  expect(told).toEqual(['minted'])
})

test('one that ends soon is renewed beside the requests that use it, and never shown at its end', async () => {
  const { source, asked, later } = createTokenSource((count) => tokenAnswer(`token-${count}`))
  await source.token()
  later(49_999)
  expect(source.token()).toBe('token-1')
  expect(asked).toHaveLength(1)
  later(1)
  expect([source.token(), source.token()]).toEqual(['token-1', 'token-1'])
  expect(asked).toHaveLength(2)
  await expect.poll(() => source.token()).toBe('token-2')
  later(90_000)
  expect(source.token()).toBeInstanceOf(Promise)
})

test('a provider that is away is not asked with each request, and the token that is left serves till its end', async () => {
  const { source, asked, told, later } = createTokenSource((count) =>
    count === 1 ? tokenAnswer('kept') : new Error('ECONNREFUSED'),
  )
  await source.token()
  later(60_000)
  expect(source.token()).toBe('kept')
  await expect.poll(() => told).toEqual(['minted', 'unreachable'])
  expect(source.token()).toBe('kept')
  expect(asked).toHaveLength(2)
  later(30_000)
  expect(await source.token()).toBeUndefined()
  expect(asked).toHaveLength(3)
  later(999)
  expect(source.token()).toBeUndefined()
  expect(asked).toHaveLength(3)
  later(1)
  expect(await source.token()).toBeUndefined()
  expect(asked).toHaveLength(4)
})

test.each([
  ['an error', { status: 401, text: '{"error":"invalid_client","hint":"not to be told"}' }],
  ['a redirect', { status: 302, text: '' }],
  ['no JSON', { status: 200, text: '<html>' }],
  ['another kind of token', { status: 200, text: '{"access_token":"a","token_type":"mac"}' }],
  ['a token that would be two headers', tokenAnswer('a\r\nX-Admin: 1')],
  ['a token without an end', tokenAnswer('a', 'never')],
])('%s is no token', async (_, answer) => {
  const { source, told } = createTokenSource(() => answer)
  expect(await source.token()).toBeUndefined()
  expect(told).toEqual(['refused'])
})

test('what a provider says of a refusal is logged, without the secret however it is written, and without any token', async () => {
  const said = `not to be told | not+to+be+told | ${basic} | {"access_token":"eyJhbGciOi`
  const { source, logged } = createTokenSource(() => ({ status: 400, text: said }))
  await source.token()
  expect(logged).toHaveLength(1)
  expect(logged[0]).toContain('proxy.token.refused')
  expect(logged[0]).toContain('"status":400')
  for (const secret of ['not to be told', 'not+to', basic.slice(6), 'eyJhbGciOi'])
    expect(logged[0]).not.toContain(secret)
})

test('without a time to live it is kept for half a minute', async () => {
  const { source, later, asked } = createTokenSource(() => ({
    status: 200,
    text: '{"access_token":"a","token_type":"bearer"}',
  }))
  await source.token()
  later(29_999)
  source.token()
  expect(asked).toHaveLength(1)
  later(1)
  source.token()
  expect(asked).toHaveLength(2)
})
