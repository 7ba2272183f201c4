// Runs each adapter of the document store that needs no server against each requirement.
import { describe } from 'vitest'
import { eachRequirement } from './each-requirement.ts'
import { storeArms } from './store-arms.ts'

describe.each(storeArms)('$name', eachRequirement)
