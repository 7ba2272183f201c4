// Everything that a document store must keep, as data: each adapter is run against all of it.
import { keepingRequirements } from './store-keeping.ts'
import { readRequirements } from './store-reads.ts'
import type { StoreRequirement } from './store-requirement.ts'
import { sightRequirements } from './store-sight.ts'
import { writeRequirements } from './store-writes.ts'

export const storeRequirements: readonly StoreRequirement[] = [
  ...writeRequirements,
  ...readRequirements,
  ...sightRequirements,
  ...keepingRequirements,
]
