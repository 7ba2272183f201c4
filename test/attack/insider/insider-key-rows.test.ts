// A peer that holds its own keys, and the rows of its key set: no lie has an effect, and each has its alarm.
import { describeInsiderAttacks } from './describe-insider-attacks.ts'
import { keyRowAttacks } from './key-row-attacks.ts'

describeInsiderAttacks('the rows of its key set', keyRowAttacks)
