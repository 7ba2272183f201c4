// Everything that a document store must keep, as data: each adapter is run against all of it.
import { durabilityRequirements } from './store-durability.ts'
import { readScopeRequirements } from './store-read-scope.ts'
import { readRequirements } from './store-reads.ts'
import type { StoreRequirement } from './store-requirement.ts'
import { scrubRequirements } from './store-scrub.ts'
import { totalRequirements } from './store-totals.ts'
import { writeRequirements } from './store-writes.ts'

export const storeRequirements: readonly StoreRequirement[] = [
  ...writeRequirements,
  ...readRequirements,
  ...readScopeRequirements,
  ...totalRequirements,
  ...durabilityRequirements,
  ...scrubRequirements,
]
