// Declares one test for each requirement on stores, each in a world of its own.
import { afterEach, beforeEach } from 'vitest'
import { whenPresent } from '../support/requires.ts'
import { storeRequirements } from './store.ts'
import type { StoreArm } from './store-arms.ts'

export function eachRequirement(arm: StoreArm): void {
  const { isPresent, name, hint } = arm
  let opened: Awaited<ReturnType<StoreArm['open']>>

  beforeEach(async () => {
    if (isPresent) opened = await arm.open()
  })
  afterEach(async () => {
    if (isPresent) await opened.end()
  })

  const where = whenPresent({ isPresent, name, hint })
  for (const { id, says, holds } of storeRequirements) where(`${id}: ${says}`, () => holds(opened.world))
}
