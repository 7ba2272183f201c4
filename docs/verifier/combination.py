"""The combination of contributions (docs/consensus.md, section "Combiners"), operation by operation in doubles."""
import functools

SCALE, LIFT, TINY = 2.0 ** 960, 2.0 ** 600, 2.0 ** -200
HIGH, LOW, TOLERANCE = 2.0 ** 480, 2.0 ** -480, 1e-12

def weight(opinion): return opinion['accuracy'] * opinion['credibility']

def numbers(opinion): return opinion['pair_score'], opinion['accuracy'], opinion['credibility']

def by_number_then_contributor(opinion): return (*numbers(opinion), opinion['contributor_id'].encode('utf-16-be'))

def combine(method, opinions):
    ordered = sorted(opinions, key=numbers)
    return {'weighted_average': weighted_average, 'dempster_shafer': dempster_shafer}[method](ordered)

def total(values): return functools.reduce(lambda sum_, value: sum_ + value, values, 0.0)

def lift(opinions): return LIFT if max((weight(each) for each in opinions), default=0.0) < TINY else 1.0

def conflict(opinions):
    factor = lift(opinions)
    whole = total(weight(each) * factor for each in opinions)
    if whole == 0: return 0.0
    below = previous = sum_ = 0.0
    for each in opinions:
        w = weight(each) * factor
        if w == 0: continue
        if below != 0: sum_ += (each['pair_score'] - previous) * below * (whole - below)
        below += w
        previous = each['pair_score']
    return min(1.0, (4 * sum_) / (whole * whole))

def weighted_average(opinions):
    factor, weights, weighted = lift(opinions), 0.0, 0.0
    for each in opinions:
        w = weight(each) * factor
        weights += w
        weighted += w * each['pair_score']
    found = {'method': 'weighted_average', 'conflict': conflict(opinions), 'total_weight': total(map(weight, opinions))}
    return {**found, 'score': None, 'reason': 'no_weight'} if weights == 0 else {**found, 'score': weighted / weights}

# Dempster's rule. A mass is (mantissa, exponent) for mantissa x 2^(960 exponent), the mantissa 0 or in [2^-480, 2^480).
# Subsets of the frame are bit masks: 1 match, 2 non-match, 3 either, and 0 the empty set.

def add(masses, subset, value, exponent):
    current, at = masses[subset]
    if value >= LOW and current + value < HIGH and at == exponent:
        masses[subset] = (current + value, at)
        return
    if value == 0: return
    if value < LOW: value, exponent = value * SCALE, exponent - 1
    if current != 0:
        above = exponent - at
        if above < -1: return
        if above == 0: value += current
        elif above == 1: value += current / SCALE
        elif above == -1: value, exponent = current + value / SCALE, exponent + 1
    masses[subset] = (value / SCALE, exponent + 1) if value >= HIGH else (value, exponent)

def plain(mass):
    mantissa, exponent = mass
    if exponent == 0: return mantissa
    # 2^(960 exponent) as a double is 0 below -1, and infinite above 1: masses never exceed 1.
    return mantissa * (SCALE ** exponent if exponent >= -1 else 0.0)

def dempster(opinions):
    """The masses after all sources, or None in total conflict; and K."""
    state, K = [(0.0, 0), (0.0, 0), (0.0, 0), (1.0, 0)], 0.0
    for each in opinions:
        w, source = weight(each), [(0.0, 0)] * 4
        add(source, 1, w * each['pair_score'], 0)
        add(source, 2, w * (1 - each['pair_score']), 0)
        add(source, 3, 1 - w, 0)
        if source[3] == (1.0, 0) and source[1][0] == source[2][0] == 0: continue
        joint = [(0.0, 0)] * 4
        for left in (1, 2, 3):
            for right in (1, 2, 3):
                product = state[left][0] * source[right][0]
                if product != 0: add(joint, left & right, product, state[left][1] + source[right][1])
        K += (1 - K) * min(1.0, plain(joint[0]))
        joint[0] = (0.0, 0)
        for subset in (1, 2, 3): add(joint, 0, *joint[subset])
        (whole, exponent), joint[0] = joint[0], (0.0, 0)
        if whole == 0: return None, 1.0
        for subset in (1, 2, 3): divide(joint, subset, whole, exponent)
        state = joint
    return state, min(K, 1 - 2.0 ** -53)

def divide(masses, subset, divisor, exponent):
    mantissa, at = masses[subset]
    share = mantissa / divisor
    if exponent == 0 and LOW <= share < HIGH: masses[subset] = (share, at)
    else:
        masses[subset] = (0.0, 0)
        add(masses, subset, share, at - exponent)

def dempster_shafer(opinions):
    found = {'method': 'dempster_shafer', 'conflict': conflict(opinions), 'total_weight': total(map(weight, opinions))}
    masses, K = dempster(opinions)
    if masses is None:
        return {**found, 'score': None, 'belief': None, 'plausibility': None, 'K': K, 'reason': 'total_conflict'}
    match, non_match, either = (plain(mass) for mass in masses[1:])
    granted = {'belief': min(1.0, match), 'plausibility': min(1.0, match + either), 'K': K}
    if found['total_weight'] == 0: return {**found, 'score': None, **granted, 'reason': 'no_weight'}
    return {**found, 'score': min(1.0, match + either * 0.5), **granted}

def decide(policy, opinions):
    """`match` or `non_match` where the policy ratifies, else None."""
    found = combine(policy['combination_method'], opinions)
    if len({(each['contributor_id'], 'msg_id' in each) for each in opinions}) < policy['m']: return None
    if found.get('reason') == 'total_conflict' or found['conflict'] >= policy['conflict_threshold'] - TOLERANCE: return None
    score = found['score']
    if score is None: return None
    if score >= policy['ratify_threshold'] - TOLERANCE: return 'match'
    return 'non_match' if score <= 1 - policy['ratify_threshold'] + TOLERANCE else None
