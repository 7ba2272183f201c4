// What boot supplies for private runs: blinding, which is done in threads.
import type { Blinding } from '../../../kernel/cryptography/blinding.ts'
import { part } from '../../../kernel/role/part.ts'

export const blindingPart = part<Blinding>('blinding')
