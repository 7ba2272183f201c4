// Runs each adapter of the document store that needs no server against each requirement.
import { describe } from 'vitest'
import { storeVariants } from './store-variants.ts'
import { testStoreRequirements } from './test-store-requirements.ts'

describe.each(storeVariants)('$name', testStoreRequirements)
