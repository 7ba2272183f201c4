// A peer that holds its own keys, and the channel: no lie has an effect, and each has its alarm.
import { describeInsiderAttacks } from './describe-insider-attacks.ts'
import { historyAttacks } from './history-attacks.ts'
import { numberAttacks } from './number-attacks.ts'

describeInsiderAttacks('the channel', [...numberAttacks, ...historyAttacks])
