// Invalid tokens at the operations of every role: each is answered 401 in the same words, stores nothing, and appears in
// no answer and no log.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectProblem } from '../../support/every-operation/expect-problem.ts'
import { createOperationFixture, type OperationFixture } from '../../support/every-operation/operation-fixture.ts'
import { readStoredState } from '../../support/every-operation/read-stored-state.ts'
import { routedOperations } from '../../support/every-operation/routed-operations.ts'
import { sendOperation } from '../../support/every-operation/send-operation.ts'
import { signByForeignKey, tokenForgers } from './forged-tokens.ts'

const guarded = routedOperations.filter(({ operation }) => operation.allow !== 'public')

/** One operation of each role. */
const firsts = new Set(new Map(guarded.toReversed().map((target) => [target.role, target])).values())

/** Each token comes to every role, and every operation gets one token in five: one code admits to all of a role. */
const listTargets = (turn: number) => guarded.filter((target, at) => firsts.has(target) || at % 5 === turn % 5)

let world: OperationFixture
beforeAll(async () => {
  world = await createOperationFixture()
})
afterAll(() => world?.site.close())

test.each(Object.entries(tokenForgers).map(([name, forge], turn) => [name, forge, turn] as const))(
  '%s',
  async (_, forge, turn) => {
    const token = await forge(world.site, world.admin)
    const before = await readStoredState(world)
    const texts: string[] = []
    for (const target of listTargets(turn)) {
      const answer = await sendOperation(world, target, { id: 'x', uid: 'x', name: 'x' }, { token })
      expect(expectProblem(answer, [401]).detail, target.address).toBe('the token is not valid')
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform", error="invalid_token"')
      texts.push(answer.text)
    }
    expect(await readStoredState(world)).toEqual(before)
    const [, claims = '', signature = ''] = token.split('.')
    for (const part of [token, claims, signature].filter((text) => text !== '')) {
      expect(texts.join('')).not.toContain(part)
      expect(world.site.logged.join('\n')).not.toContain(part)
    }
  },
)

test('a public operation takes a bad token for none', async () => {
  const token = await signByForeignKey()
  const answer = await world.site.request('consensus', { method: 'GET', path: '/health', token })
  expect(answer.status).toBe(200)
  expect(answer.json).not.toHaveProperty('dependencies')
})

test('a token in the query or a cookie does not count, nor does one of two', async () => {
  const { site, admin: token } = world
  const path = '/api/v2/consensus/session'
  expectProblem(await site.request('consensus', { method: 'GET', path: `${path}?access_token=${token}` }), [401])
  expectProblem(await site.request('consensus', { method: 'GET', path, headers: { cookie: `token=${token}` } }), [401])
  const two = { authorization: [`Bearer ${token}`, 'Bearer x'] } as unknown as Record<string, string>
  expectProblem(await site.request('consensus', { method: 'GET', path, headers: two }), [400, 401])
})
