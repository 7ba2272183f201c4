// A text that tries everything at once, and what no output may hold.

/** What others would like to forge: the beginning of a line of its own. */
export const forged = 'error: forged'

/** Escape sequences, controls of eight bits, an override, separators, fillers, selectors, half a pair, and a forged line. */
export const hostileText = `a\u001b[2J\u001b]0;x\u0007\u009b31m\u202e\u2028b\rc\u200b\u3164\u{e0101}\ud800\n${forged}`

export const misleading = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

export const forgedLine = /^error: forged/m
