// Declares one test for each requirement on stores, each in a world of its own.
import { afterEach, beforeEach } from 'vitest'
import { whenPresent } from '../support/runner/requires.ts'
import { storeRequirements } from './store.ts'
import type { StoreVariant } from './store-variants.ts'

export function testStoreRequirements(arm: StoreVariant): void {
  const { isPresent, name, hint } = arm
  let opened: Awaited<ReturnType<StoreVariant['open']>>

  beforeEach(async () => {
    if (isPresent) opened = await arm.open()
  })
  afterEach(async () => {
    if (isPresent) await opened.end()
  })

  const where = whenPresent({ isPresent, name, hint })
  for (const { id, description, verify } of storeRequirements)
    where(`${id}: ${description}`, () => verify(opened.world))
}
