// Entry point of a thread that blinds a piece of a set; a separate bundle in the executable.

import type { BlindingWork } from '../../../adapters/blinding/curve25519/work.ts'
import { performBlinding } from '../../../adapters/blinding/curve25519/work.ts'
import { inThread } from '../../../adapters/compute/threads/thread-side.ts'

void inThread((input) => performBlinding(input as BlindingWork))
