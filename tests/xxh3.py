"""XXH3-64 and XXH3-128 (default secret, seed 0) in pure Python, for tests/reader.py, tests/format/golden and tests/docs/spec"""

M = (1 << 64) - 1
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MIX1, MIX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def fold(a, b):
    product = a * b
    return (product & M) ^ (product >> 64)


def avalanche(h):
    h ^= h >> 37
    h = h * MIX1 & M
    return h ^ h >> 32


def avalanche64(h):
    h ^= h >> 33
    h = h * P64[1] & M
    h ^= h >> 29
    h = h * P64[2] & M
    return h ^ h >> 32


def mix16(data, at, secret):
    return fold(u64(data, at) ^ u64(SECRET, secret), u64(data, at + 8) ^ u64(SECRET, secret + 8))


def short(data, n):
    if n == 0:
        return avalanche64(u64(SECRET, 56) ^ u64(SECRET, 64))
    if n <= 3:
        word = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return avalanche64(word ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    if n <= 8:
        h = (u32(data, n - 4) + (u32(data, 0) << 32)) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        h ^= (h << 49 | h >> 15) & M ^ (h << 24 | h >> 40) & M
        h = h * MIX2 & M
        h ^= (h >> 35) + n
        h = h * MIX2 & M
        return h ^ h >> 28
    low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
    high = u64(data, n - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
    return avalanche((n + int.from_bytes(low.to_bytes(8, "big"), "little") + high + fold(low, high)) & M)


def middle(data, n):
    h = n * P64[0]
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            h += mix16(data, 16 * i, 32 * i) + mix16(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & M)
    for i in range(8):
        h += mix16(data, 16 * i, 16 * i)
    h = avalanche(h & M)
    for i in range(8, n // 16):
        h += mix16(data, 16 * i, 16 * (i - 8) + 3)
    return avalanche((h + mix16(data, n - 16, 119)) & M)


def stripe(sums, words, keys):
    for i in range(8):
        key = words[i] ^ keys[i]
        sums[i ^ 1] += words[i]
        sums[i] = sums[i] + (key & 0xFFFFFFFF) * (key >> 32)
    for i in range(8):
        sums[i] &= M


def long_sums(data, n):
    """The eight accumulators of more than 240 bytes."""
    sums = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    keys = [[u64(SECRET, at + 8 * i) for i in range(8)] for at in range(0, 129, 8)]

    def words(at):
        return [u64(data, at + 8 * i) for i in range(8)]

    for number, at in enumerate(range(0, n - 64, 64)):
        stripe(sums, words(at), keys[number % 16])
        if number % 16 == 15:
            for i in range(8):
                sums[i] = (sums[i] ^ sums[i] >> 47 ^ keys[16][i]) * P32[0] & M
    stripe(sums, words(n - 64), [u64(SECRET, 121 + 8 * i) for i in range(8)])
    return sums


def merged(sums, secret, h):
    for i in range(4):
        h += fold(sums[2 * i] ^ u64(SECRET, secret + 16 * i), sums[2 * i + 1] ^ u64(SECRET, secret + 8 + 16 * i))
    return avalanche(h & M)


def xxh3(data):
    """The checksum of bytes or a memoryview of bytes."""
    n = len(data)
    if n <= 16:
        return short(data, n)
    if n <= 240:
        return middle(data, n)
    return merged(long_sums(data, n), 11, n * P64[0] & M)


# ---- XXH3-128: halves (low, high)

def swap(value, size):
    return int.from_bytes(value.to_bytes(size, "big"), "little")


def short128(data, n):
    if n == 0:
        return avalanche64(u64(SECRET, 64) ^ u64(SECRET, 72)), avalanche64(u64(SECRET, 80) ^ u64(SECRET, 88))
    if n <= 3:
        low = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        high = swap(low, 4)
        high = (high << 13 | high >> 19) & 0xFFFFFFFF
        return (avalanche64(low ^ u32(SECRET, 0) ^ u32(SECRET, 4)), avalanche64(high ^ u32(SECRET, 8) ^ u32(SECRET, 12)))
    if n <= 8:
        word = (u32(data, 0) + (u32(data, n - 4) << 32)) ^ u64(SECRET, 16) ^ u64(SECRET, 24)
        product = word * (P64[0] + (n << 2) & M)
        low, high = product & M, product >> 64
        high = high + (low << 1) & M
        low ^= high >> 3
        low = (low ^ low >> 35) * MIX2 & M
        return low ^ low >> 28, avalanche(high)
    first, last = u64(data, 0), u64(data, n - 8)
    product = (first ^ last ^ u64(SECRET, 32) ^ u64(SECRET, 40)) * P64[0]
    low, high = (product & M) + (n - 1 << 54) & M, product >> 64
    last ^= u64(SECRET, 48) ^ u64(SECRET, 56)
    high = high + last + (last & 0xFFFFFFFF) * (P32[1] - 1) & M
    low ^= swap(high, 8)
    product = low * P64[1]
    return avalanche(product & M), avalanche((product >> 64) + high * P64[1] & M)


def middle128(data, n):
    low, high = n * P64[0] & M, 0

    def mix(a, b, secret):
        nonlocal low, high
        low = (low + mix16(data, a, secret) & M) ^ (u64(data, b) + u64(data, b + 8) & M)
        high = (high + mix16(data, b, secret + 16) & M) ^ (u64(data, a) + u64(data, a + 8) & M)

    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            mix(16 * i, n - 16 * (i + 1), 32 * i)
    else:
        for i in range(4):
            mix(32 * i, 32 * i + 16, 32 * i)
        low, high = avalanche(low), avalanche(high)
        for i in range(4, n // 32):
            mix(32 * i, 32 * i + 16, 32 * (i - 4) + 3)
        mix(n - 16, n - 32, 103)
    return avalanche(low + high & M), -avalanche(low * P64[0] + high * P64[3] + n * P64[1] & M) & M


def xxh3_128(data):
    """The hash in canonical form: 16 bytes, the highest first."""
    n = len(data)
    if n <= 16:
        low, high = short128(data, n)
    elif n <= 240:
        low, high = middle128(data, n)
    else:
        sums = long_sums(data, n)
        low, high = merged(sums, 11, n * P64[0] & M), merged(sums, 117, ~(n * P64[1]) & M)
    return (high << 64 | low).to_bytes(16, "big")
