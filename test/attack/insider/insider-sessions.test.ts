// A peer that holds its own keys, and the sessions: no lie has an effect, and each has its alarm.

import { describeInsiderAttacks } from './describe-insider-attacks.ts'
import { sessionAttacks } from './session-attacks.ts'

describeInsiderAttacks('the sessions', sessionAttacks)
