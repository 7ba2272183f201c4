// What boot supplies for private runs: blinding, which is done in threads.
import type { Blinding } from '../../../kernel/blinding.ts'
import { part } from '../../../kernel/call.ts'

export const blindingPart = part<Blinding>('blinding')
