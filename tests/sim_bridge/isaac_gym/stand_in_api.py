"""A stand-in for the types of Isaac Gym's modules: what can be named and set, and nothing else.

Names are those of the documentation of `isaacgym.gymapi` (Preview 3) and of the type stubs
yzqin/isaacgym-stubs (Preview 4). As in a compiled module, an attribute that a type does not have
cannot be set either. Runs under Python 3.8.
"""

import weakref
from enum import IntEnum
from types import SimpleNamespace

import numpy as np


class RuleBroken(BaseException):
    """A rule of Isaac Gym's was broken; no `except Exception` of the code under test hides it."""


def _enum(name, *members):
    return IntEnum(name, members, start=0)


UpAxis = _enum("UpAxis", "UP_AXIS_Y", "UP_AXIS_Z")
SimType = _enum("SimType", "SIM_PHYSX", "SIM_FLEX")
ContactCollection = _enum("ContactCollection", "CC_NEVER", "CC_LAST_SUBSTEP", "CC_ALL_SUBSTEPS")
DofDriveMode = _enum(
    "DofDriveMode", "DOF_MODE_NONE", "DOF_MODE_POS", "DOF_MODE_VEL", "DOF_MODE_EFFORT"
)
CoordinateSpace = _enum("CoordinateSpace", "ENV_SPACE", "LOCAL_SPACE", "GLOBAL_SPACE")
ENUMS = (UpAxis, SimType, ContactCollection, DofDriveMode, CoordinateSpace)
CONSTANTS = {member.name: member for enum in ENUMS for member in enum}


def expect(value, kind):
    """As a compiled function does of an argument: an enumeration's member is no number."""
    if type(value) is not kind:
        raise TypeError(f"incompatible function arguments: {value!r} is no {kind.__name__}")


def _struct(name, others="", **fields):
    """A type with these fields and their defaults (0 for `others`); callables make a default."""
    fields.update(dict.fromkeys(others.split(), 0.0))

    def start(self, *values, **named):
        for field, default in fields.items():
            setattr(self, field, default() if callable(default) else default)
        for field, value in dict(zip(fields, values), **named).items():  # noqa: B905 - Python 3.8
            setattr(self, field, value)

    def put(self, field, value):
        if isinstance(fields.get(field), IntEnum):
            expect(value, type(fields[field]))
        object.__setattr__(self, field, value)

    return type(name, (), {"__slots__": tuple(fields), "__init__": start, "__setattr__": put})


# Fields that the server sets, and those whose defaults would do harm.
Vec3 = _struct("Vec3", "x y z")
Quat = _struct("Quat", "x y z", w=1.0)
Transform = _struct("Transform", p=Vec3, r=Quat)
PhysXParams = _struct(
    "PhysXParams",
    """use_gpu num_threads solver_type num_position_iterations num_velocity_iterations
    contact_offset rest_offset bounce_threshold_velocity max_depenetration_velocity""",
    contact_collection=ContactCollection.CC_NEVER,
)
SimParams = _struct(
    "SimParams",
    "dt substeps use_gpu_pipeline",
    gravity=Vec3, physx=PhysXParams, up_axis=UpAxis.UP_AXIS_Y,
)  # fmt: skip
PlaneParams = _struct(
    "PlaneParams", "distance static_friction dynamic_friction restitution", normal=Vec3
)
TriangleMeshParams = _struct(
    "TriangleMeshParams", "nb_vertices nb_triangles static_friction dynamic_friction restitution"
)
AssetOptions = _struct(
    "AssetOptions",
    """default_dof_drive_mode collapse_fixed_joints fix_base_link disable_gravity override_com
    linear_damping max_linear_velocity max_angular_velocity armature replace_cylinder_with_capsule
    enable_gyroscopic_forces""",
    angular_damping=0.5, thickness=0.02,
)  # fmt: skip
RigidShapeProperties = _struct("RigidShapeProperties", "restitution", friction=1.0)
RigidBodyProperties = _struct("RigidBodyProperties", "mass", com=Vec3)
DOF_PROPERTIES = np.dtype(
    [
        ("hasLimits", "?"), ("lower", "<f4"), ("upper", "<f4"), ("driveMode", "<i4"),
        ("velocity", "<f4"), ("effort", "<f4"), ("stiffness", "<f4"), ("damping", "<f4"),
        ("friction", "<f4"), ("armature", "<f4"),
    ]
)  # fmt: skip


class Tensor:
    """The little of a torch tensor that numpy code needs; on a "GPU" numpy cannot see it."""

    __slots__ = ("__weakref__", "_data", "device")

    def __init__(self, data, device="cpu"):
        self._data, self.device = data, device

    @property
    def shape(self):
        return self._data.shape

    @property
    def dtype(self):
        return self._data.dtype

    def is_contiguous(self):
        return self._data.flags.c_contiguous

    def cpu(self):
        return self if self.device == "cpu" else Tensor(self._data.copy())

    def numpy(self):
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return self._data

    def copy_(self, other):
        if not isinstance(other, Tensor):
            raise TypeError("copy_(): argument 'other' must be Tensor")
        self._data[...] = other._data
        return self

    def to(self, dtype):
        return Tensor(self._data.astype(dtype), self.device)


class Descriptor:
    """An address; the tensor there may be gone."""

    __slots__ = ("_reference", "_kept")

    def __init__(self, tensor, kept=False):
        self._reference, self._kept = weakref.ref(tensor), tensor if kept else None

    def tensor(self):
        tensor = self._reference()
        if tensor is None:
            raise RuleBroken("a tensor handed over was not kept: its address holds anything")
        return tensor


def _unwrap(tensor):
    if not isinstance(tensor, Tensor) or not tensor.is_contiguous():
        raise Exception("Input tensor must be contiguous")
    return Descriptor(tensor)


def _zeros(shape, dtype=np.float32, device="cpu"):
    return Tensor(np.zeros(shape, dtype), device)


def modules(gym):
    """Namespaces with the names of gymapi (which gives `gym` out), gymtorch and torch."""
    structs = (
        Vec3, Quat, Transform, PhysXParams, SimParams, PlaneParams, TriangleMeshParams,
        AssetOptions, RigidShapeProperties, RigidBodyProperties,
    )  # fmt: skip
    named = {struct.__name__: struct for struct in structs}
    gymapi = SimpleNamespace(acquire_gym=lambda: gym, **named, **CONSTANTS)
    gymtorch = SimpleNamespace(unwrap_tensor=_unwrap, wrap_tensor=lambda held: held.tensor())
    cuda = SimpleNamespace(get_device_name=lambda index: f"stand-in GPU {index}")
    torch = SimpleNamespace(
        zeros=_zeros, from_numpy=Tensor, float32=np.float32, int32=np.int32, int64=np.int64,
        cuda=cuda,
    )  # fmt: skip
    return gymapi, gymtorch, torch
