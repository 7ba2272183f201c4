// A short soak of the public proxy on a real Redis: `scripts/soak proxy` is the long one.
import { expect } from 'vitest'
import { soak } from '../../soak/proxy.ts'
import { requires } from '../../support/runner/requires.ts'

const seconds = Number(process.env.PROXY_SOAK_S ?? 15)

requires('redis-server')(
  `${seconds} s at saturation while all behind it and itself are killed: documented answers alone, each recorded once`,
  { timeout: 10 * 60_000 },
  async () => {
    const counts = await soak(7, seconds)
    expect(counts).toMatchObject({ records: expect.any(Number), 'proxy killed': expect.any(Number) })
    expect(counts.records).toBeGreaterThanOrEqual(counts.answered ?? 0)
  },
)
