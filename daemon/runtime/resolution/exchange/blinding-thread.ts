// Entry point of a thread that blinds a piece of a set; a separate bundle in the executable.

import type { BlindingWork } from '../../../../adapters/blinding/curve25519/perform-blinding.ts'
import { performBlinding } from '../../../../adapters/blinding/curve25519/perform-blinding.ts'
import { runInThread } from '../../../../adapters/compute/threads/run-in-thread.ts'

void runInThread((input) => performBlinding(input as BlindingWork))
