// A minted token is used until its last minute, for its audience alone.
import { expect, test } from 'vitest'
import { mintedTokens } from './minted-tokens.ts'

test('a token is minted once for an audience, and again in its last minute', async () => {
  let now_ms = 0
  const tokenFor = mintedTokens(
    async (audience, at_ms) => ({ token: `${audience} at ${at_ms}`, exp: at_ms / 1_000 + 300 }),
    () => now_ms,
  )
  const tokens = async () => [await tokenFor('consensus'), await tokenFor(undefined)]
  for (const [at_ms, minted_ms] of [
    [0, 0],
    [240_000, 0],
    [240_001, 240_001],
    [480_001, 240_001],
    [9_999_999, 9_999_999],
  ]) {
    now_ms = at_ms as number
    expect(await tokens()).toEqual([`consensus at ${minted_ms}`, `undefined at ${minted_ms}`])
  }
})

test('a failure to mint is not kept', async () => {
  let isBroken = true
  const tokenFor = mintedTokens(
    async () => {
      if (isBroken) throw new Error('no key')
      return { token: 'a', exp: 300 }
    },
    () => 0,
  )
  await expect(tokenFor('consensus')).rejects.toThrow('no key')
  isBroken = false
  expect(await tokenFor('consensus')).toBe('a')
})
