"""XXH3-64 (default secret, seed 0) in pure Python, for tests/format/golden and tests/docs/spec"""

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


def xxh3(data):
    """The checksum of bytes or a memoryview of bytes."""
    n = len(data)
    if n <= 16:
        return short(data, n)
    if n <= 240:
        return middle(data, n)
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
    h = n * P64[0]
    for i in range(4):
        h += fold(sums[2 * i] ^ u64(SECRET, 11 + 16 * i), sums[2 * i + 1] ^ u64(SECRET, 19 + 16 * i))
    return avalanche(h & M)
