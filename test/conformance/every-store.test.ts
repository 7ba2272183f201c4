// Runs each adapter of the document store against each requirement.
import { afterEach, beforeEach, describe } from 'vitest'
import { whenPresent } from '../support/requires.ts'
import { storeRequirements } from './store.ts'
import { storeArms } from './store-arms.ts'

describe.each(storeArms)('$name', (arm) => {
  const { isPresent, name, hint } = arm
  let opened: Awaited<ReturnType<typeof arm.open>>

  beforeEach(async () => {
    if (isPresent) opened = await arm.open()
  })
  afterEach(async () => {
    if (isPresent) await opened.end()
  })

  for (const { id, says, holds } of storeRequirements) {
    whenPresent({ isPresent, name, hint })(`${id}: ${says}`, () => holds(opened.world))
  }
})
