// The number of the normal form of texts. It rises when the form of any value changes, so that sites which exchange blinded
// values notice that theirs differ: 2 since scripts have rules of their own (0090).

export const text_form = 2
