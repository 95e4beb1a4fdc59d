"""Words that decide whether a full stop ends a sentence."""

# Always followed by what they belong to: a full stop after one never ends a sentence.
ABBREVIATIONS = frozenset(
    """
    mr mrs ms mx dr prof rev hon gen col maj capt cpt cmdr lt sgt cpl pvt adm sen rep gov pres supt
    st ste mt ft messrs mme mlle mmes fr br pres insp det amb asst assoc e.g i.e eg ie cf viz vs v
    approx esp resp incl excl ca c.f a.k.a n.b p.s misc fed civ supp cir ct stat rev'd aff'd mgr msgr
    phil rom cor gal eph thess tim heb pet matt deut exod lev num sam chron neh prov eccl isa jer ezek
    herr hr fr frl dipl ing z.b d.h u.a i.d.r vgl bzw bspw ggf evtl sog zzgl inkl ca
    sra srta dña ud uds dott avv sig sigg sig.ra geb dhr mevr drs vgl zgn
    им г ул т.е т.к напр см
    """.split()
)
# Followed by a number or a reference when inside a sentence.
NUMBERED = frozenset(
    """
    no nos nr n° fig figs eq eqs eqn sec secs sect ch chap chaps vol vols art arts p pp para paras
    pt pts ref refs tab app ex op cap lib bk ver v cl reg sched § §§ num abs bd jg kap pag pág núm
    """.split()
)
# May end a sentence: they do when a word follows that begins sentences.
CLOSING = frozenset(
    """
    inc ltd co corp llc bros jr sr esq plc pty gmbh dept univ assn ave blvd rd hwy al ed eds trans
    jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri
    a.m p.m am pm b.c a.d b.c.e c.e ph.d m.d b.a m.a b.sc m.sc d.c u.s u.k u.n e.u u.s.a u.s.s.r
    ala ariz ark calif colo conn del fla ill ind kan ky md mich minn miss mo mont neb nev okla ore
    pa penn tenn tex va vt wash wis wyo mass ont que
    """.split()
)
# Close an enumeration, and with it the sentence when a capital follows.
OPEN_ENDED = frozenset("etc usw u.s.w ecc enz итд т.д т.п др".split())

STARTERS = frozenset(
    """
    the a an this that these those it its he she they we i you his her their our my your there here
    in on at by for from with to as if when while where after before since until although though
    because during despite unlike what who why how which whose do does did is are was were will would
    can could should may might must have has had let please no not yes and but or so yet then thus
    hence however moreover furthermore therefore nevertheless meanwhile also still even just only
    some many most all both each every another other one two three several few such once now today
    i'm i've i'll it's he's she's they're we're you're that's there's don't didn't what's let's
    """.split()
)
MONTHS = frozenset(
    """
    januar februar märz april mai juni juli august september oktober november dezember jänner
    """.split()
)
SPEECH = frozenset(
    """
    said asked replied answered cried exclaimed whispered shouted murmured muttered added called
    continued inquired returned demanded
    """.split()
)
LANGUAGES: dict[str, frozenset[str]] = {}

# A small letter after a stop is a slip or a style where one of these follows.
LOWER_STARTERS = frozenset(
    """
    i i'm i've i'll i'd im ive you your you're it it's its he she we they there there's this that
    these those my the a if when what what's how why where who is are was do does did can could
    would will should not just please plz pls thanks no yes yeah ok so also maybe but and plus
    some someone any anyone our his her their in try let let's don't can't because
    """.split()
)
GLUED_STARTERS = frozenset("You I It The This That They We He She There".split())
SHORT_WORDS = frozenset(
    "it me up in to so do go is be on us ok if of he we my by at as or an hi oh id tv pc".split()
)
