// The part that boot supplies for private runs: blinding in threads.
import type { Blinding } from '../../../kernel/cryptography/blinding.ts'
import { part } from '../../../kernel/role/part.ts'

export const blindingPart = part<Blinding>('blinding')
