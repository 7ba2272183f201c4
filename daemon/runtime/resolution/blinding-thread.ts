// Where a thread begins that blinds a piece of a set; the executable holds it as a bundle of its own.

import type { BlindingWork } from '../../../adapters/blinding/curve25519/work.ts'
import { performBlinding } from '../../../adapters/blinding/curve25519/work.ts'
import { inThread } from '../../../adapters/compute/threads/thread-side.ts'

void inThread((input) => performBlinding(input as BlindingWork))
