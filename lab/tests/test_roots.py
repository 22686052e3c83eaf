"""Where the newest root block lies: a wrong place would be damaged for nothing, and the walk would prove nothing."""

from lab.roots import DATA, MAGIC, PARTITION, RING, UBERBLOCK, Extent, newest_root

SLOT = 4096
ONE_SECTOR_OF_4K = 8  # in units of 512 bytes, as ZFS writes sizes and offsets


def test_the_newest_of_the_ring_is_read_with_all_its_copies(tmp_path):
    image = tmp_path / "disk0.img"
    with image.open("wb") as disk:
        for slot, txg in enumerate((70, 72, 71)):
            disk.seek(PARTITION + RING + slot * SLOT)
            disk.write(UBERBLOCK.pack(MAGIC, 5000, txg, 1, 2, ONE_SECTOR_OF_4K, txg, ONE_SECTOR_OF_4K, txg + 0x1000, 0, 0))
        disk.truncate(PARTITION + DATA)
    begin = PARTITION + DATA
    assert newest_root(image, SLOT) == (72, [Extent(begin + 72 * 512, 4096), Extent(begin + (72 + 0x1000) * 512, 4096)])
