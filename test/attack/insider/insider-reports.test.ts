// A peer that holds its own keys, and what it reports: no lie has an effect, and each has its alarm.

import { describeInsiderAttacks } from './describe-insider-attacks.ts'
import { reportAttacks } from './report-attacks.ts'

describeInsiderAttacks('what it reports', reportAttacks)
