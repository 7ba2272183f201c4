// A peer that holds its own keys, and what it signs: no lie has an effect, and each has its alarm.
import { contentAttacks } from './content-attacks.ts'
import { describeInsiderAttacks } from './describe-insider-attacks.ts'

describeInsiderAttacks('what it signs', contentAttacks)
